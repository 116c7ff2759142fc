"""English."""

PHRASES = {
    # Faults: a short name of the cause, then what the evidence says.
    "wrong_gateway": "wrong gateway on {device}",
    "wrong_gateway.detail": (
        "{device} uses the gateway {gateway}, which is not the address of a router on "
        "its segment; {router} has {right} there ({interface})."
    ),
    "missing_gateway": "{device} has no gateway",
    "missing_gateway.detail": (
        "{device} has no default gateway; {router} has {right} on its segment "
        "({interface})."
    ),
    "link_missing": "no link between {device} and {other}",
    "link_missing.detail": (
        "{interface} of {device} has no link, but its subnet {subnet} is also that of "
        "{peer}."
    ),
    "wrong_mask": "wrong mask on {device}",
    "wrong_mask.detail": (
        "{device} has {address}, so it takes {subnet} for its own subnet; {other} on "
        "the same segment uses {right}."
    ),
    "wrong_subnet": "{device} has an address in the wrong subnet",
    "wrong_subnet.detail": (
        "{device} has {address}, but {router} on the same segment is in {subnet} "
        "({interface})."
    ),
    "no_interface_address": "no address on {device} ({interface})",
    "no_interface_address.detail": (
        "{interface} of {device} has no address, but {other} on the same segment "
        "expects {right} there."
    ),
    "unnumbered": "{device} has no address",
    "unnumbered.detail": (
        "{device} has no address yet: say “set {device} to 10.0.0.1/24”, for example."
    ),
    "no_address": "{device} has no address",
    "no_address.detail": (
        "{device} has {address}; {router} on the same segment is in {subnet} "
        "({interface})."
    ),
    "duplicate_address": "duplicate address on {device} and {other}",
    "duplicate_address.detail": (
        "{device} and {other} are on the same segment and both have {address}."
    ),
    "interface_down": "interface {interface} of {device} is shut down",
    "interface_down.detail": "{interface} of {device} is on the path and is down.",
    "wrong_interface_address": ("wrong interface address on {device} ({interface})"),
    "wrong_interface_address.detail": (
        "{interface} of {device} has {address}, but {other} on the same segment "
        "expects {right} there."
    ),
    "missing_route": "missing route on {device}: it does not know {subnet}",
    "missing_route.detail": (
        "{device} has no route to {address}; the way to {subnet} is by {other} "
        "({right})."
    ),
    "missing_return_route": (
        "missing return route on {device}: it does not know {subnet}"
    ),
    "missing_return_route.detail": (
        "The request arrives, the answer does not: {device} has no route back to "
        "{address}; the way to {subnet} is by {other} ({right})."
    ),
    "wrong_next_hop": "wrong next hop on {device}",
    "wrong_next_hop.detail": (
        "{device} sends {subnet} to {next_hop}; the way to {address} is by {other} "
        "({right})."
    ),
    "acl_blocks": "access list {acl} on {device} blocks the traffic",
    "acl_blocks.detail": (
        "Access list {acl}, applied {direction} on {interface} of {device}, drops "
        "packets to {address}: `{rule}`."
    ),
    "node_stopped": "{device} is stopped",
    "node_stopped.detail": "{device} is needed for this and is not running.",
    "link_suspended": "the link between {device} and {other} is suspended",
    "link_suspended.detail": "Nothing passes the link {link}.",
    "not_cabled": "{device} and {other} are not connected by links",
    "not_cabled.detail": (
        "No chain of links leads from {device} to {other} over switches and routers."
    ),
    "unreadable": "{device} could not be read",
    "unreadable.detail": (
        "The path goes on at {device}, whose console gave no usable answer: {problem}."
    ),
    "unexplained": "packets stop at {device}",
    "unexplained.detail": (
        "{device} gets no further towards {address}, and no single change that I can "
        "derive from the consoles would mend it."
    ),
    # Reachability answers.
    "cannot_reach": "{source} cannot reach {target}: {cause}",
    "ping_works_but": "{source} reaches {target}, but: {cause}",
    "reaches": "{source} reaches {target}",
    "reaches.detail": (
        "Addresses, masks, gateways, routes and links agree on the whole path "
        "({path}), and the ping is answered."
    ),
    "config_right": "The configuration from {source} to {target} looks right",
    "config_right.detail": "Path: {path}. No ping result confirms it yet.",
    "ping_unexplained": "{source} does not reach {target}, and I do not see why",
    "ping_unexplained.detail": (
        "What I read agrees on the whole path ({path}), yet the ping fails."
    ),
    "lab_fine": "I find nothing wrong in this lab",
    "lab_fine.detail": "Checked {count} pair(s) of devices in both directions.",
    "lab_wrong": "Something is wrong: {cause}",
    "also": "Also:",
    "not_read": "Could not be read:",
    "fix_on": "What to change on {device}:",
    "start": "Start {device} (say “start {device}”), then ask again.",
    "connect": "Connect {device} ({interface}) and {other} with a link.",
    "either": "The same output would also fit: {cause}",
    "resume": "Resume the link {link} in GNS3, then ask again.",
    "fixed": "Changed, and {source} reaches {target} now",
    "fixed_not": "Changed, but {source} still does not reach {target}",
    "cannot_fix": "I have no tool for this change",
    "nothing_to_fix": "There is nothing to fix that I can find",
    # Other answers.
    "topology": "{name}: {nodes} device(s), {links} link(s)",
    "topology.head": "| Device | Type | Status | Console |",
    "topology.links": "Links:",
    "suspended": "suspended",
    "empty_lab": "The lab is empty. Try “add two PCs and connect them”.",
    "shown": "{command} on {device}",
    "has_address": "{device} has {address}, gateway {gateway}",
    "has_no_address": "{device} has no address",
    "ping_ok": "{source} reaches {target}",
    "ping_failed": "{source} gets no answer from {target}",
    "ping_hint": "Ask “why?” and I look for the cause.",
    "started": "Started: {names}",
    "stopped": "Stopped: {names}",
    "created": "Created: {names}",
    "linked": "Connected: {names}",
    "address_set": "{device} is configured",
    "failed": "Failed: {names}",
    "next_address": "Next: “set {device} to 10.0.0.1/24”.",
    "no_device": "There is no device of that name here. Devices: {names}.",
    "which_device": "Which device? Devices: {names}.",
    "which_interface": "Which interface of {device}? For example {example}.",
    "no_console": "{device} has no console that I can use",
    "no_address_given": "Which address? For example: “set {device} to 10.0.0.5/24”.",
    "no_template": "This server has no template for: {names}.",
    "tool_missing": "I would need the tool `{tool}`, which is not available here",
    "rejected": "Nothing was changed: the change was rejected",
    "rejected.what": "This was not done:",
    "rejected.reason": "Reason given: {reason}",
    "tool_failed": "`{tool}` failed: {error}",
    "too_many_steps": "I stopped after {count} steps without a result",
    "hello": "Hello! I answer simple questions about this lab.",
    "unknown": "I did not understand that.",
    "help": (
        "I can:\n\n"
        "- find out why one device cannot reach another: “Why can't PC1 reach PC2?”\n"
        "- check the whole lab: “What is wrong with the lab?”\n"
        "- show the topology, addresses, routes or the configuration of a device\n"
        "- ping: “ping PC1 to PC2”\n"
        "- start and stop devices, add PCs and connect them\n"
        "- set an address: “set PC1 to 10.0.0.5/24 gateway 10.0.0.1”\n"
        "- read and search files attached here: “What is in r1.cfg?”\n"
        "- run a command on a device: “run `show ip route` on R1”\n\n"
        "I am a set of rules, not a language model. An operator connects one by adding "
        "a model under LLM configs in the admin, or by setting LLM_BASE_URL."
    ),
    "evidence": "Evidence:",
    "disclosure": (
        "Answered by rules from the console output; no language model is configured."
    ),
    "disclosure.plain": "Answered by rules; no language model is configured.",
    "simulated": "The lab is simulated.",
}

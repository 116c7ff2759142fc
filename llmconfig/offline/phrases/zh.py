"""Chinese."""

PHRASES = {
    "wrong_gateway": "{device} 的网关配置错误",
    "wrong_gateway.detail": (
        "{device} 使用网关 {gateway}，但同一网段上没有路由器使用该地址；"
        "{router} 在该网段的地址是 {right}（{interface}）。"
    ),
    "missing_gateway": "{device} 没有网关",
    "missing_gateway.detail": (
        "{device} 没有默认网关；{router} 在该网段的地址是 {right}（{interface}）。"
    ),
    "link_missing": "{device} 与 {other} 之间缺少链路",
    "link_missing.detail": (
        "{device} 的 {interface} 没有链路，但它的子网 {subnet} 也是 {peer} 的子网。"
    ),
    "wrong_mask": "{device} 的子网掩码错误",
    "wrong_mask.detail": (
        "{device} 的地址是 {address}，因此把 {subnet} 当作本地子网；"
        "同一网段上的 {other} 使用 {right}。"
    ),
    "wrong_subnet": "{device} 的地址不在正确的子网",
    "wrong_subnet.detail": (
        "{device} 的地址是 {address}，但同一网段上的 {router} 属于 {subnet}"
        "（{interface}）。"
    ),
    "no_interface_address": "{device} 的接口 {interface} 没有地址",
    "no_interface_address.detail": (
        "{device} 的 {interface} 没有地址，但同一网段上的 {other} 期望 {right}。"
    ),
    "unnumbered": "{device} 没有地址",
    "unnumbered.detail": (
        "{device} 还没有地址，例如输入“设置 {device} 为 10.0.0.1/24”。"
    ),
    "no_address": "{device} 没有地址",
    "no_address.detail": (
        "{device} 的地址是 {address}；同一网段上的 {router} 属于 {subnet}"
        "（{interface}）。"
    ),
    "duplicate_address": "{device} 与 {other} 地址重复",
    "duplicate_address.detail": "{device} 与 {other} 在同一网段，地址都是 {address}。",
    "interface_down": "{device} 的接口 {interface} 已关闭",
    "interface_down.detail": "{device} 的 {interface} 在路径上，但处于关闭状态。",
    "wrong_interface_address": "{device} 的接口地址错误（{interface}）",
    "wrong_interface_address.detail": (
        "{device} 的 {interface} 地址是 {address}，"
        "但同一网段上的 {other} 期望 {right}。"
    ),
    "missing_route": "{device} 缺少到 {subnet} 的路由",
    "missing_route.detail": (
        "{device} 没有到 {address} 的路由；到 {subnet} 应经过 {other}（{right}）。"
    ),
    "missing_return_route": "{device} 缺少到 {subnet} 的回程路由",
    "missing_return_route.detail": (
        "请求能到达，但应答回不来：{device} 没有到 {address} 的路由；"
        "到 {subnet} 应经过 {other}（{right}）。"
    ),
    "wrong_next_hop": "{device} 的下一跳错误",
    "wrong_next_hop.detail": (
        "{device} 把 {subnet} 发往 {next_hop}；到 {address} 应经过 {other}（{right}）。"
    ),
    "acl_blocks": "{device} 的访问列表 {acl} 阻止了流量",
    "acl_blocks.detail": (
        "访问列表 {acl}（{device} 的 {interface}，方向 {direction}）"
        "丢弃发往 {address} 的数据包：`{rule}`。"
    ),
    "node_stopped": "{device} 未启动",
    "node_stopped.detail": "路径需要 {device}，但它没有运行。",
    "link_suspended": "{device} 与 {other} 之间的链路已挂起",
    "link_suspended.detail": "链路 {link} 不通。",
    "not_cabled": "{device} 与 {other} 之间没有连线",
    "not_cabled.detail": "从 {device} 经交换机和路由器到 {other} 没有任何链路。",
    "unreadable": "无法读取 {device}",
    "unreadable.detail": "路径经过 {device}，但它的控制台没有可用的回答：{problem}。",
    "unexplained": "数据包停在 {device}",
    "unexplained.detail": (
        "{device} 无法继续发往 {address}，从控制台输出推导不出能修复它的单项修改。"
    ),
    "cannot_reach": "{source} 无法到达 {target}：{cause}",
    "ping_works_but": "{source} 可以到达 {target}，但是：{cause}",
    "reaches": "{source} 可以到达 {target}",
    "reaches.detail": (
        "整条路径（{path}）上的地址、掩码、网关、路由和链路一致，ping 有应答。"
    ),
    "config_right": "从 {source} 到 {target} 的配置看起来正确",
    "config_right.detail": "路径：{path}。尚无 ping 结果证实。",
    "ping_unexplained": "{source} 无法到达 {target}，原因不明",
    "ping_unexplained.detail": "读到的配置在整条路径（{path}）上一致，但 ping 失败。",
    "lab_fine": "没有发现这个实验环境有问题",
    "lab_fine.detail": "已双向检查 {count} 对设备。",
    "lab_wrong": "发现问题：{cause}",
    "also": "另外：",
    "not_read": "无法读取：",
    "fix_on": "在 {device} 上修改：",
    "start": "启动 {device}（输入“启动 {device}”），然后再问一次。",
    "connect": "用链路连接 {device}（{interface}）与 {other}。",
    "either": "同样的输出也可能是：{cause}",
    "resume": "在 GNS3 中恢复链路 {link}，然后再问一次。",
    "fixed": "已修改，{source} 现在可以到达 {target}",
    "fixed_not": "已修改，但 {source} 仍无法到达 {target}",
    "cannot_fix": "没有可用于此修改的工具",
    "nothing_to_fix": "没有发现需要修复的问题",
    "topology": "{name}：{nodes} 个设备，{links} 条链路",
    "topology.head": "| 设备 | 类型 | 状态 | 控制台 |",
    "topology.links": "链路：",
    "suspended": "已挂起",
    "empty_lab": "实验环境是空的。可以试试“添加两台PC并连接”。",
    "shown": "{device} 的 {command}",
    "has_address": "{device} 的地址是 {address}，网关 {gateway}",
    "has_no_address": "{device} 没有地址",
    "ping_ok": "{source} 可以到达 {target}",
    "ping_failed": "{source} 没有收到 {target} 的应答",
    "ping_hint": "输入“为什么？”，我来查找原因。",
    "started": "已启动：{names}",
    "stopped": "已停止：{names}",
    "created": "已创建：{names}",
    "linked": "已连接：{names}",
    "address_set": "{device} 已配置",
    "failed": "失败：{names}",
    "next_address": "下一步：“设置 {device} 为 10.0.0.1/24”。",
    "no_device": "这里没有这个名称的设备。设备：{names}。",
    "which_device": "哪个设备？设备：{names}。",
    "which_interface": "{device} 的哪个接口？例如 {example}。",
    "no_console": "{device} 没有可用的控制台",
    "no_address_given": "哪个地址？例如：“设置 {device} 为 10.0.0.5/24”。",
    "no_template": "此服务器没有模板：{names}。",
    "tool_missing": "需要工具 `{tool}`，但这里不可用",
    "rejected": "没有任何更改：该更改被拒绝",
    "rejected.what": "以下操作未执行：",
    "rejected.reason": "给出的原因：{reason}",
    "tool_failed": "`{tool}` 失败：{error}",
    "too_many_steps": "{count} 步之后仍无结果，已停止",
    "hello": "你好！我回答关于这个实验环境的简单问题。",
    "unknown": "我没有理解这个问题。",
    "help": (
        "我可以：\n\n"
        "- 查找一台设备无法到达另一台的原因：“为什么PC1无法访问PC2？”\n"
        "- 检查整个实验环境：“实验环境有什么问题？”\n"
        "- 显示拓扑、地址、路由或设备配置\n"
        "- ping：“从PC1 ping PC2”\n"
        "- 启动和停止设备，添加PC并连接\n"
        "- 设置地址：“设置PC1为 10.0.0.5/24 网关 10.0.0.1”\n"
        "- 阅读和搜索附件：“r1.cfg里有什么？”\n"
        "- 在设备上执行命令：“在R1上执行 `show ip route`”\n\n"
        "我由规则组成，不是语言模型。管理员可以在后台的 LLM configs 中添加模型，"
        "或设置 LLM_BASE_URL 来连接语言模型。"
    ),
    "evidence": "依据：",
    "disclosure": "由规则根据控制台输出回答；未配置语言模型。",
    "disclosure.plain": "由规则回答；未配置语言模型。",
    "simulated": "该实验环境是模拟的。",
}

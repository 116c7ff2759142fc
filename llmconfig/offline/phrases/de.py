"""German."""

PHRASES = {
    "wrong_gateway": "falsches Gateway auf {device}",
    "wrong_gateway.detail": (
        "{device} benutzt das Gateway {gateway}; diese Adresse hat kein Router in "
        "seinem Segment. {router} hat dort {right} ({interface})."
    ),
    "missing_gateway": "{device} hat kein Gateway",
    "missing_gateway.detail": (
        "{device} hat kein Gateway; {router} hat {right} in seinem Segment "
        "({interface})."
    ),
    "link_missing": "keine Verbindung zwischen {device} und {other}",
    "link_missing.detail": (
        "{interface} von {device} ist nicht verbunden, aber sein Subnetz {subnet} ist "
        "auch das von {peer}."
    ),
    "wrong_mask": "falsche Maske auf {device}",
    "wrong_mask.detail": (
        "{device} hat {address} und hält damit {subnet} für sein eigenes Subnetz; "
        "{other} im selben Segment benutzt {right}."
    ),
    "wrong_subnet": "{device} hat eine Adresse im falschen Subnetz",
    "wrong_subnet.detail": (
        "{device} hat {address}, aber {router} im selben Segment ist in {subnet} "
        "({interface})."
    ),
    "no_interface_address": "keine Adresse auf {device} ({interface})",
    "no_interface_address.detail": (
        "{interface} von {device} hat keine Adresse, aber {other} im selben Segment "
        "erwartet dort {right}."
    ),
    "unnumbered": "{device} hat keine Adresse",
    "unnumbered.detail": (
        "{device} hat noch keine Adresse: etwa „setze {device} auf 10.0.0.1/24“."
    ),
    "no_address": "{device} hat keine Adresse",
    "no_address.detail": (
        "{device} hat {address}; {router} im selben Segment ist in {subnet} "
        "({interface})."
    ),
    "duplicate_address": "doppelte Adresse auf {device} und {other}",
    "duplicate_address.detail": (
        "{device} und {other} sind im selben Segment und haben beide {address}."
    ),
    "interface_down": "Schnittstelle {interface} von {device} ist abgeschaltet",
    "interface_down.detail": (
        "{interface} von {device} liegt auf dem Weg und ist nicht aktiv."
    ),
    "wrong_interface_address": (
        "falsche Schnittstellenadresse auf {device} ({interface})"
    ),
    "wrong_interface_address.detail": (
        "{interface} von {device} hat {address}, aber {other} im selben Segment "
        "erwartet dort {right}."
    ),
    "missing_route": "fehlende Route auf {device}: {subnet} ist unbekannt",
    "missing_route.detail": (
        "{device} hat keine Route zu {address}; der Weg zu {subnet} führt über "
        "{other} ({right})."
    ),
    "missing_return_route": "fehlende Rückroute auf {device}: {subnet} ist unbekannt",
    "missing_return_route.detail": (
        "Die Anfrage kommt an, die Antwort nicht: {device} hat keine Route zurück zu "
        "{address}; der Weg zu {subnet} führt über {other} ({right})."
    ),
    "wrong_next_hop": "falscher Next Hop auf {device}",
    "wrong_next_hop.detail": (
        "{device} schickt {subnet} an {next_hop}; der Weg zu {address} führt über "
        "{other} ({right})."
    ),
    "acl_blocks": "Zugriffsliste {acl} auf {device} sperrt den Verkehr",
    "acl_blocks.detail": (
        "Zugriffsliste {acl} ({direction} an {interface} von {device}) verwirft "
        "Pakete an {address}: `{rule}`."
    ),
    "node_stopped": "{device} ist ausgeschaltet",
    "node_stopped.detail": "{device} wird dafür gebraucht und läuft nicht.",
    "link_suspended": "die Verbindung zwischen {device} und {other} ist angehalten",
    "link_suspended.detail": "Über {link} geht nichts.",
    "not_cabled": "{device} und {other} sind nicht verkabelt",
    "not_cabled.detail": (
        "Keine Kette von Verbindungen führt von {device} über Switches und Router zu "
        "{other}."
    ),
    "unreadable": "{device} war nicht lesbar",
    "unreadable.detail": (
        "Der Weg führt weiter zu {device}, dessen Konsole keine brauchbare Antwort "
        "gab: {problem}."
    ),
    "unexplained": "Pakete bleiben bei {device} stehen",
    "unexplained.detail": (
        "{device} kommt in Richtung {address} nicht weiter, und keine einzelne "
        "Änderung, die ich aus den Konsolen ableiten kann, würde das beheben."
    ),
    "cannot_reach": "{source} erreicht {target} nicht: {cause}",
    "ping_works_but": "{source} erreicht {target}, aber: {cause}",
    "reaches": "{source} erreicht {target}",
    "reaches.detail": (
        "Adressen, Masken, Gateways, Routen und Verbindungen passen auf dem ganzen "
        "Weg zusammen ({path}), und der Ping wird beantwortet."
    ),
    "config_right": "Die Konfiguration von {source} bis {target} sieht richtig aus",
    "config_right.detail": "Weg: {path}. Kein Ping bestätigt das bisher.",
    "ping_unexplained": "{source} erreicht {target} nicht, und ich sehe nicht, warum",
    "ping_unexplained.detail": (
        "Was ich gelesen habe, passt auf dem ganzen Weg zusammen ({path}), trotzdem "
        "scheitert der Ping."
    ),
    "lab_fine": "Ich finde keinen Fehler in diesem Labor",
    "lab_fine.detail": "Geprüft: {count} Gerätepaar(e) in beide Richtungen.",
    "lab_wrong": "Etwas stimmt nicht: {cause}",
    "also": "Außerdem:",
    "not_read": "Nicht lesbar:",
    "fix_on": "Zu ändern auf {device}:",
    "start": "{device} starten („starte {device}“), dann noch einmal fragen.",
    "connect": "{device} ({interface}) mit {other} verbinden.",
    "either": "Zur selben Ausgabe passt auch: {cause}",
    "resume": "Die Verbindung {link} in GNS3 fortsetzen, dann noch einmal fragen.",
    "fixed": "Geändert, {source} erreicht {target} jetzt",
    "fixed_not": "Geändert, aber {source} erreicht {target} noch nicht",
    "cannot_fix": "Für diese Änderung habe ich kein Werkzeug",
    "nothing_to_fix": "Ich finde nichts, was zu beheben wäre",
    "topology": "{name}: {nodes} Gerät(e), {links} Verbindung(en)",
    "topology.head": "| Gerät | Typ | Zustand | Konsole |",
    "topology.links": "Verbindungen:",
    "suspended": "angehalten",
    "empty_lab": "Das Labor ist leer. Versuche „erstelle zwei PCs und verbinde sie“.",
    "shown": "{command} auf {device}",
    "has_address": "{device} hat {address}, Gateway {gateway}",
    "has_no_address": "{device} hat keine Adresse",
    "ping_ok": "{source} erreicht {target}",
    "ping_failed": "{source} bekommt keine Antwort von {target}",
    "ping_hint": "Frage „warum?“, und ich suche die Ursache.",
    "started": "Gestartet: {names}",
    "stopped": "Gestoppt: {names}",
    "created": "Erstellt: {names}",
    "linked": "Verbunden: {names}",
    "address_set": "{device} ist konfiguriert",
    "failed": "Fehlgeschlagen: {names}",
    "next_address": "Weiter: „setze {device} auf 10.0.0.1/24“.",
    "no_device": "Ein Gerät dieses Namens gibt es hier nicht. Geräte: {names}.",
    "which_device": "Welches Gerät? Geräte: {names}.",
    "which_interface": "Welche Schnittstelle von {device}? Zum Beispiel {example}.",
    "no_console": "{device} hat keine Konsole, die ich benutzen kann",
    "no_address_given": "Welche Adresse? Etwa: „setze {device} auf 10.0.0.5/24“.",
    "no_template": "Dieser Server hat keine Vorlage für: {names}.",
    "tool_missing": "Dazu bräuchte ich das Werkzeug `{tool}`, das es hier nicht gibt",
    "rejected": "Nichts wurde geändert: die Änderung wurde abgelehnt",
    "rejected.what": "Das wurde nicht getan:",
    "rejected.reason": "Genannter Grund: {reason}",
    "tool_failed": "`{tool}` ist fehlgeschlagen: {error}",
    "too_many_steps": "Nach {count} Schritten ohne Ergebnis aufgehört",
    "hello": "Hallo! Ich beantworte einfache Fragen zu diesem Labor.",
    "unknown": "Das habe ich nicht verstanden.",
    "help": (
        "Ich kann:\n\n"
        "- herausfinden, warum ein Gerät ein anderes nicht erreicht: „Warum erreicht "
        "PC1 PC2 nicht?“\n"
        "- das ganze Labor prüfen: „Was ist im Labor falsch?“\n"
        "- Topologie, Adressen, Routen oder Konfiguration eines Geräts zeigen\n"
        "- pingen: „pinge PC2 von PC1“\n"
        "- Geräte starten und stoppen, PCs anlegen und verbinden\n"
        "- eine Adresse setzen: „setze PC1 auf 10.0.0.5/24 Gateway 10.0.0.1“\n"
        "- angehängte Dateien lesen und durchsuchen: „Was steht in r1.cfg?“\n"
        "- einen Befehl ausführen: „führe `show ip route` auf R1 aus“\n\n"
        "Ich bestehe aus Regeln und bin kein Sprachmodell. Ein Betreiber verbindet "
        "eines, indem er in der Verwaltung unter LLM configs ein Modell anlegt oder "
        "LLM_BASE_URL setzt."
    ),
    "evidence": "Beleg:",
    "disclosure": (
        "Nach Regeln aus der Konsolenausgabe beantwortet; es ist kein Sprachmodell "
        "konfiguriert."
    ),
    "disclosure.plain": (
        "Nach Regeln beantwortet; es ist kein Sprachmodell konfiguriert."
    ),
    "simulated": "Das Labor ist simuliert.",
}

"""What can be done, in families of words that mean the same."""

from typing import NamedTuple


class Family(NamedTuple):
    """Words for one kind of deed, each as a regular expression."""

    name: str
    done: str
    """As it is said to have been done."""
    traces: str
    """As calls and results tell of it: beginnings of words."""
    doing: str = ""
    """As it is said to be under way."""
    outward: bool = False
    """It may as well be done to words of the answer: only a thing outside makes it a deed."""


FAMILIES = (
    Family(
        "delete",
        done=(
            "deleted|erased|trashed|wiped|discarded|gelöscht|supprimée?|effacée?|eliminado"
            "|borrado|emptied"
        ),
        traces="delet|remov|eras|trash|unlink|rmdir|rm |discard|wip|clean",
        doing="deleting|erasing",
    ),
    Family(
        "remove",
        done="removed|entfernt|enlevé|cleared|uninstalled|unsubscribed",
        traces="delet|remov|eras|trash|unlink|rm |clear|uninstall|discard",
        doing="removing|clearing|uninstalling",
        outward=True,
    ),
    Family(
        "send",
        done=(
            "sent|e-?mailed|mailed|forwarded|replied|gesendet|verschickt|geschickt"
            "|envoyée?|enviado|texted|messaged|shared|invited"
        ),
        traces="sen[dt]|mail|forward|repl|message|post|shar|invit|upload",
        doing="sending|e-?mailing|forwarding",
    ),
    Family(
        "play",
        done="played|gespielt|abgespielt|jouée?|reproducido",
        traces="play|start|queue|music|mpv|aplay|stream",
        doing="playing|spiele|streaming",
    ),
    Family(
        "queue",
        done="queued|enqueued",
        traces="queue|play|enqueue|add",
        doing="queueing|queuing",
    ),
    Family(
        "start",
        done=("started|launched|gestartet|begonnen|lancée?|démarrée?|iniciado|restarted|rebooted"),
        traces="start|play|launch|run|boot|open|begin|exec|begun|systemctl",
        doing="starting|launching|restarting",
        outward=True,
    ),
    Family(
        "save",
        done=(
            "saved|stored|exported|backed up|gespeichert|enregistrée?|sauvegardée?"
            "|guardado|archived"
        ),
        traces="sav|writ|wrote|stor|export|put|creat|commit|back|copied|archiv|zip|tar |byte",
        doing="saving|exporting|backing up",
    ),
    Family(
        "create",
        done=(
            "created|made|written|wrote|added|generated|put|recorded|noted|logged|erstellt"
            "|angelegt|geschrieben|hinzugefügt|créée?|ajoutée?|écrit|creado|añadido"
            "|agregado|escrito|built|inserted|appended|posted|uploaded|set"
        ),
        traces=(
            "creat|made|mak|writ|wrote|add|put|new|insert|generat|append|touch|mkdir|sav"
            "|upload|post|schedul|book|set|remind|regist|posted|committed|queue|built|build"
        ),
        doing="creating|writing|adding|uploading|setting",
        outward=True,
    ),
    Family(
        "move",
        done="moved|relocated|verschoben|déplacée?|movido",
        traces="mov|mv |relocat|transfer|renam",
        doing="moving",
        outward=True,
    ),
    Family(
        "rename",
        done="renamed|umbenannt|renommée?|renombrado",
        traces="renam|mv |mov",
        doing="renaming",
    ),
    Family(
        "copy",
        done="copied|duplicated|cloned|kopiert|copiée?|copiado",
        traces="cop[yi]|cp |duplicat|clon",
        doing="copying|cloning",
        outward=True,
    ),
    Family(
        "schedule",
        done=(
            "scheduled|booked|reserved|rescheduled|ordered|purchased|bought|arranged"
            "|gebucht|geplant|eingetragen|réservée?|planifiée?|reservado|programado"
            "|agendado"
        ),
        traces=(
            "schedul|book|reserv|creat|event|appointment|calendar|arrang|order|purchas"
            "|insert|add|updat|mov"
        ),
        doing="scheduling|booking|ordering",
    ),
    Family(
        "cancel",
        done="cancell?ed|declined|accepted|abgesagt|annulée?|cancelado|confirmed|approved",
        traces="cancel|delet|remov|declin|accept|confirm|approv|updat|respon",
        doing="cancell?ing",
    ),
    Family(
        "open",
        done="opened|geöffnet|ouverte?|abierto",
        traces="open|launch|start|brows|visit|url",
        doing="opening",
        outward=True,
    ),
    Family(
        "fetch",
        done="downloaded|heruntergeladen|téléchargée?|descargado|pulled|fetched",
        traces="download|fetch|curl|wget|get|pull|saved|clon",
        doing="downloading|fetching",
    ),
    Family(
        "run",
        done="ran|run|executed|ausgeführt|exécutée?|ejecutado|compiled|deployed|tested",
        traces=(
            "run|ran|exec|terminal|shell|command|bash|script|compil|deploy|test|exit|built"
            "|passed|pytest"
        ),
        doing="running|executing|deploying",
        outward=True,
    ),
    Family(
        "install",
        done="installed|upgraded|installiert|installée?|instalado",
        traces="install|upgrad|pip|apt|npm|brew|added|setup",
        doing="installing|upgrading",
    ),
    Family(
        "update",
        done=(
            "updated|edited|changed|modified|replaced|fixed|adjusted|corrected|renewed"
            "|reset|merged|committed|pushed|marked|completed|enabled|disabled|configured"
            "|aktualisiert|geändert|bearbeitet|modifiée?|changée?|actualizado|modificado"
            "|cambiado|turned|switched|assigned|closed|unlocked|locked"
        ),
        traces=(
            "updat|edit|chang|modif|replac|writ|wrote|fix|adjust|correct|reset|merg|commit"
            "|push|mark|complet|enabl|disabl|config|patch|set|put|clos|assign|switch|turn"
            "|lock|sed "
        ),
        doing="updating|editing|changing|enabling|disabling",
        outward=True,
    ),
    Family(
        "stop",
        done=(
            "stopped|paused|halted|muted|skipped|resumed|unpaused|gestoppt|angehalten"
            "|pausiert|arrêtée?|detenido|pausado|killed|terminated"
        ),
        traces="stop|paus|halt|mut|kill|end|skip|resum|terminat|cancel|next",
        doing="stopping|pausing",
        outward=True,
    ),
    Family(
        "pay",
        done="paid|transferred|donated|refunded|bezahlt|überwiesen|payée?|pagado",
        traces="pay|paid|transfer|donat|refund|order|purchas",
        doing="paying|transferring",
    ),
    Family(
        "submit",
        done=(
            "submitted|registered|subscribed|published|printed|signed up|synced|restored"
            "|recovered|connected"
        ),
        traces="submit|regist|subscri|publish|print|sign|sync|restor|recover|connect|post|put",
        doing="submitting|printing|publishing|syncing|restoring",
        outward=True,
    ),
    Family(
        "convert",
        done="converted|compressed|zipped|extracted|unzipped|encrypted|resized|archived",
        traces="convert|compress|zip|extract|tar |encrypt|resiz|ffmpeg|archiv|magick",
        doing="converting|compressing|extracting|zipping",
        outward=True,
    ),
    Family(
        "say",
        done="said|spoken|spoke|announced|vorgelesen|read",
        traces="say|said|speak|spok|utter|voice|tts|announc|read aloud",
        outward=True,
    ),
)

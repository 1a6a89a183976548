"""Words for figures and dates in the large languages, endings of files, words that tell nothing."""

MONTHS = {
    name: number
    for number, names in enumerate(
        """january jan januar jänner janvier janv enero ene janeiro gennaio января
        february feb februar février fevrier févr febrero fevereiro febbraio февраля
        march mar märz mrz mars marzo março марта
        april apr avril avr abril abr aprile апреля
        may mai mayo maio maggio мая
        june jun juni juin junio junho giugno июня
        july jul juli juillet juil julio julho luglio июля
        august aug août aout agosto ago августа
        september sep sept septembre septiembre setembro settembre сентября
        october oct oktober okt octobre octubre outubro ottobre октября
        november nov novembre noviembre novembro ноября
        december dec dezember dez décembre diciembre dic dezembro dicembre декабря""".split("\n"),
        1,
    )
    for name in names.split()
}


NUMBER_WORDS = {
    name: number
    for number, names in enumerate(
        """zero null
        one ein eine un une uno una
        two zwei deux dos dois duas due два две
        three drei trois tres três tre три
        four vier quatre cuatro quatro quattro четыре
        five fünf cinq cinco cinque пять
        six sechs seis sei шесть
        seven sieben sept siete sete sette семь
        eight acht huit ocho oito otto восемь
        nine neun neuf nueve nove девять
        ten zehn dix diez dez dieci десять
        eleven elf onze
        twelve zwölf douze doce doze dodici двенадцать
        thirteen dreizehn treize trece
        fourteen vierzehn quatorze catorce
        fifteen fünfzehn quinze quince
        sixteen sechzehn seize dieciséis
        seventeen siebzehn
        eighteen achtzehn
        nineteen neunzehn
        twenty zwanzig vingt veinte""".split("\n")
    )
    for name in names.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80}

EXTENSIONS = frozenset(
    """mp3 wav flac ogg m4a aac opus wma aiff mid txt md rst pdf doc docx odt rtf tex epub xls
    xlsx ods
    csv tsv ppt pptx odp json jsonl toml yaml yml xml html htm css scss js mjs ts tsx jsx vue py
    pyi
    ipynb sh bash zsh bat ps1 c h cc cpp hpp rs go java kt swift rb php pl lua r sql db sqlite log
    ini
    cfg conf env lock png jpg jpeg gif svg webp bmp tiff heic ico psd mp4 mkv avi mov webm m4v zip
    tar
    gz tgz bz2 xz 7z rar iso dmg exe msi deb rpm apk jar whl bak tmp eml ics vcf m3u m3u8 pem key
    crt
    gguf bin dat parquet tf proto dart scala""".split()
)

LIBRARIES = frozenset(
    """node vue next nuxt express react three d3 chart angular moment backbone ember alpine discord
    p5 asp socket day anime pdf brain solid svelte require knockout bun deno plotly""".split()
)
"""Words before `.js`, `.io` and the like in the name of no file."""

STOP = frozenset(
    """the a an and or of in on at to for from by with is are was were be been it its this that
    these
    those there here you your yours i my me we our they them their he she his her as but not no all
    any some each every both more most other another such than then so if when while which who what
    where how do does did has have had will would can could may might must shall should also just
    only very about into over under after before between out up down off per via new old file files
    folder song songs track email emails named called der die das und oder von im ist sind ein eine
    le la les de des du et ou en est sont el los las y o es son un una""".split()
)
"""Words that say nothing about what a sentence is about."""

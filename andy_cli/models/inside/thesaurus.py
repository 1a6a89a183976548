"""Everyday words that mean nearly the same when somebody asks a computer for something.

Not learned: a word missing here still counts where a tool's own description says it. A line is
one meaning, an indented line goes on with it; a word may stand in several. Verbs say what is
done, topics what it is done with. The commonest words for music are there in other languages too.
"""

VERBS = """
play: play start listen hear replay blast crank spin put on
  spiel spiele reproduce toca pon ponme joue
stop: stop quit halt end silence mute hush quiet cease abort cancel off kill enough shut terminate
  stopp stoppe para detener arrête
pause: pause hold freeze wait pausiere pausa
resume: resume continue unpause proceed restart weiter continúa
queue: queue enqueue add append
next: skip next forward
list: list show see look ls dir browse enumerate display view tree overview inspect contents
  zeig zeige muestra
read: read show open cat print display view see say says content contents text look peek inspect
  written line lines head tail glance
write: write save store put note record dump jot fill create make new replace overwrite
append: append add extend insert attach
create: create make new generate produce build start draft compose begin
delete: delete remove erase drop trash rid clear wipe destroy discard rm
copy: copy duplicate clone backup
move: move rename relocate transfer mv
edit: edit change modify replace correct fix update adjust alter rewrite substitute
set: set change adjust turn switch make put dim raise lower increase decrease configure
run: run execute launch invoke perform start exec script
search: search find look lookup google seek locate query hunt check mention mentions contain grep
  scan written received through
fetch: fetch download get retrieve load grab pull read scrape visit content contents text say says
open: open visit go browse launch navigate take show load bring up
send: send mail email write message forward reply text sms tell notify deliver compose drop inform
  know let
say: say speak aloud loud loudly announce pronounce utter voice tell out recite
translate: translate translation
calculate: calculate compute evaluate solve sum add multiply divide subtract plus minus convert
save: remember save keep memorize memorise store note forget mind learn
recall: remember recall recollect tell told know said
timer: remind reminder timer alarm countdown count wake
commit: commit checkin
capture: take capture grab shoot snap record
schedule: schedule book plan arrange add create appointment
buy: buy purchase order get need
finish: finish complete done tick check close mark
upload: upload share post publish push
"""

TOPICS = """
music: music song track tune mp3 audio album playlist melody artist band sound player ogg wav flac
  radio concert listen musik lied lieder música canción canciones musique chanson
queue: queue queued next after afterwards upcoming following
file: file files txt document
folder: folder directory dir path tree
document: document doc docs paper papers pdf report letter contract agreement
email: email mail e-mail gmail inbox message messages mailbox newsletter sender attachment
calendar: calendar meeting appointment event schedule agenda date plan planned diary busy free
  upcoming booked
web: web internet online google website site net wikipedia
page: page website site url link webpage address http https article
browser: browser tab window chrome firefox
time: time clock hour o'clock late minute timezone zone
date: date day today tomorrow yesterday week month
weather: weather rain snow sunny forecast temperature warm cold hot sun umbrella storm wind cloudy
heat: heating thermostat heat temperature degree warm cold warmer colder celsius
light: light lamp bulb brightness dark bright lights
shell: shell terminal command bash console prompt cli script cmd
task: task todo to-do chore errand
note: note notes memo notebook
phone: phone sms text number call mobile cell
image: picture image photo screenshot photograph pic
screen: screen screenshot display desktop
shopping: shopping grocery groceries shop buy supermarket
language: language french german spanish italian english japanese chinese translate portuguese
  dutch russian polish korean arabic swedish
math: arithmetic expression calculate math sum calculation
repository: git repository repo commit commits branch history changes
memory: memory remember memorise forget fact mind
route: route way direction directions map path travel drive walk bike train journey navigate trip
spreadsheet: spreadsheet sheet sheets excel cell row table
cloud: drive cloud
video: video movie film clip youtube
news: news headline headlines
contact: contact contacts person people
volume: volume loud loudness louder quieter
money: money price stock currency exchange euro dollar
database: database sql table query db
word: word words phrase term
shape: size large big weigh
user: user users account
"""

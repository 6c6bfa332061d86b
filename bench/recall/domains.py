"""What the made-up tools are about: trades, the things each of them deals with, and what such things have.

Data only. A line of a trade is one thing: its names, of which each server uses one / what else it is called in a
sentence / its fields. Trades alternate between the two halves of the probes: the ranking is worked on with one half in
view, and the other is only counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["PARTS", "TRADES", "Thing", "Trade"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that tools act upon."""

    names: tuple[str, ...]
    """In the singular, words parted by blanks; the first is the common one."""
    said: tuple[str, ...]
    """What people call it who do not know the name."""
    fields: tuple[str, ...]

    @property
    def key(self) -> str:
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Trade:
    """A kind of service."""

    name: str
    servers: tuple[str, ...]
    """Last parts of the names of its servers."""
    things: tuple[Thing, ...]


_TEXT: Final = """
# code hosting: forge, git, source, repo
pull request, merge request / proposed code change, branch under review / reviewer, base_branch, title, draft
repository, project repo / code base / visibility, default_branch, owner
branch / line of development / base_branch, protected
commit / code revision, recorded change / sha, author, message
release / published version of the software / tag_name, changelog
webhook / http callback / target_url, secret, events
deploy key / ssh access key / fingerprint, read_only
code owner / person responsible for a path / path, team
workflow run, pipeline run / ci build / branch, conclusion, trigger
gist, snippet / piece of code to share / filename, language
milestone / goal with a due date / due_on, progress
security advisory / vulnerability notice / severity, package, cve
# chat: talk, chat, huddle, parley
message, post / line of chat / channel_id, text, thread_ts
channel, room / group conversation / topic, is_private, purpose
direct message, private message / one to one conversation / recipient, text
emoji / custom smiley / shortcode, image_url
reaction / response with a smiley / emoji, message_id
thread, conversation thread / chain of replies / parent_message, reply_count
user group / set of people to mention / handle, members
presence status, availability / whether somebody is online / status_text, expires_at
reminder / nudge for later / remind_at, text
call, voice call / spoken meeting / participants, started_at
bot, app integration / automated participant / scopes, token_id
bookmark, pinned link / saved link / link, title
# customer relations: crm, sales, pipeline, customer
contact, person / somebody's phone and address / email, phone, job_title
company, account / client organisation / domain, industry, employees
deal, opportunity / potential sale / amount, stage, close_date
lead, prospect / possible customer / origin, score, status
quote, estimate / offered price / discount, valid_until
campaign, marketing campaign / promotion / budget, audience, channel
activity, interaction / logged visit or phone call / kind, occurred_at
sales pipeline / order of stages / stages, probability
territory, sales region / area of a seller / country, manager
product bundle / package of articles / articles, list_price
segment, customer segment / group of similar customers / criteria, size
newsletter / regular mailing / subject, sender, audience
# accounting: ledger, books, billing, finance
invoice, bill / what a customer owes / due_date, total, customer_id
payment, transaction / money received / amount, method, paid_at
refund, credit note / money given back / reason, amount
subscription, recurring plan / monthly plan / interval, trial_end, price_id
expense, expense claim / money an employee spent / category, receipt, amount
tax rate, vat rate / percentage for the state / percentage, jurisdiction
bank account / where the money is kept / iban, currency, balance
journal entry, ledger entry / bookkeeping line / debit, credit, memo
payout, settlement / transfer to the seller / arrival_date, destination
dispute, chargeback / contested charge / evidence, charge_id
purchase order / order to a supplier / supplier, items, approved_by
budget, spending plan / planned costs / period, limit_amount
# help desk: desk, support, helpline, service
ticket, case / customer problem / priority, requester, status
agent, support agent / employee who answers / email, skills, shift
macro, canned response / prepared reply / body, shortcut
knowledge article, help article / instructions for customers / section, body, locale
satisfaction survey, csat survey / happiness question / rating, comment
escalation, escalation rule / raising to the next level / level, after_minutes
queue, ticket queue / waiting line / capacity, routing
sla policy, service level / promised answer time / first_reply_minutes, priority
call recording / audio of a phone call / duration, caller
customer feedback / what customers think / sentiment, text
business hours, opening hours / when we are open / weekday, opens_at
satisfaction score / how happy customers are / period, average
# cloud hosting: cloud, compute, stack, infra
virtual machine, instance, server / rented computer / region, image, cpu_count
storage bucket, object store / place for files / region, versioning, acl
load balancer / traffic distributor / listeners, health_check
security group, firewall rule / network filter / port, cidr, protocol
database cluster, managed database / hosted postgres / engine, replicas
dns record, domain record / name to address entry / ttl, record_type, hostname
certificate, tls certificate / encryption for https / domain, expires_at, issuer
container image, docker image / packaged application / digest, registry
kubernetes cluster / container orchestration / node_count, kube_version
serverless function, lambda / code without a machine / runtime, memory_mb, handler
disk snapshot, volume snapshot / saved state of a disk / volume_id, encrypted
autoscaling group / machines that grow with load / min_size, max_size, cooldown
# monitoring: watch, metrics, observe, alerting
alert, alarm / warning about a system / threshold, severity, muted
dashboard / board with charts / widgets, time_range
metric, time series / measured number / unit, aggregation, labels
incident, outage / something broken in production / severity, commander, started_at
log stream, log entry / lines a program wrote / level, service, query
trace, distributed trace / path of a request / span_count, latency_ms
uptime check, health probe / is the site reachable / url, interval_s
on call schedule, duty roster / who is on duty / rotation, starts_at
service level objective, slo / reliability goal / target, error_budget
anomaly / unusual behaviour / deviation, detected_at
notification rule, alert route / who gets told / recipients, conditions
status page / public page about outages / components, subscribers
# calendar and mail: mail, agenda, post, planner
event, meeting, appointment / date with others / starts_at, attendees, location
email, mail message / electronic letter / subject, recipient, attachments
draft, email draft / unsent letter / subject, body
mail folder, mailbox / place where letters go / unread_count, parent
attendee, participant / invited guest / email, response
free slot, availability window / time without meetings / duration, earliest
mail filter, inbox rule / sorting incoming letters / conditions, target_folder
signature, mail signature / closing lines / html, is_default
calendar, agenda / collection of dates / timezone, color
meeting room, conference room / place to sit together / capacity, floor, equipment
out of office reply, vacation responder / absence answer / until, message
mailing list, distribution list / address of many people / address, members
# human resources: hr, people, staff, talent
employee, staff member / somebody who works here / department, hired_on, manager
leave request, time off request, absence / holiday of a worker / from_date, to_date, reason
job opening, vacancy / position to fill / title, location, salary_range
candidate, applicant / person who wants the job / resume, stage, rating
payroll run, salary run / paying the wages / period, gross_total
timesheet, time entry / hours worked / hours, project, date
performance review, appraisal / yearly assessment / score, goals
department, team / unit of the organisation / head, cost_center
benefit, employee benefit / insurance or pension perk / provider, contribution
onboarding checklist / first days plan / tasks, buddy
training course, learning module / lesson for the staff / duration, mandatory
interview, job interview / conversation with an applicant / interviewers, scheduled_at
# shop: shop, store, cart, retail
order, sales order / what somebody bought / items, shipping_address, total
product, article, item / thing for sale / sku, price, stock
shopping cart, basket / chosen goods / items, coupon
coupon, discount code / price reduction / percent_off, valid_until
shipment, parcel, delivery / package on its way / carrier, tracking_number
inventory level, stock level / how many are left / warehouse, quantity
product review, customer review / opinion on a product / stars, body
gift card, voucher / prepaid present / balance, code
return, return request / goods sent back / reason, condition
warehouse, storage location / building full of goods / address, capacity
price list, price book / what everything costs / currency, prices
wishlist, wish list / things a shopper wants / shared, items
# project management: tasks, board, plan, project
task, issue, work item / something to do / assignee, due_date, state
project, workspace project / undertaking / lead, deadline
sprint, iteration / two weeks of work / goal, start_date
epic, initiative / large piece of work / owner, health
backlog item, user story / future wish / points, acceptance
board, kanban board / columns with cards / columns, wip_limit
checklist, to do list / steps to tick / items, completed
dependency, blocker / what must be done before / blocked_by, relation
time log, work log / hours spent on a job / minutes, activity
roadmap, product roadmap / plan for the year / horizon, themes
custom field / additional column / options, field_type
automation rule, trigger rule / if this then that / condition, action
# documents: docs, notes, wiki, paper
document, page / written text / title, body, folder_id
folder, directory / place for texts / parent, path
spreadsheet, workbook / rows and columns / sheets, range
slide deck, presentation / pictures for a talk / slides, theme
form, questionnaire / questions to fill in / questions, closes_at
form response, submission / filled in answers / answers, submitted_at
wiki space, knowledge base / collection of pages / slug, homepage
file revision, document version / earlier state / author, changed_at
share link, public link / address for outsiders / password, expires_at
whiteboard, drawing board / surface to sketch on / shapes, width
database table, data table / structured list / columns, row_count
comment thread, discussion / remarks on a text / resolved, quote
# data warehouse: data, warehouse, query, lake
sql query, saved query / question to the database / statement, parameters
dataset, data set / collection of records / schema_name, row_count
table, relation / rows in storage / columns, partition_key
etl job, data pipeline, sync job / moving data at night / cron, last_run
data source, connector / where records come from / credentials_id, kind
materialized view / stored result / refresh_interval, statement
data quality check, data test / are the numbers right / rule, failures
column lineage, data lineage / where a number comes from / upstream, downstream
access grant, data permission / who may read / role, expires_at
report, scheduled report / numbers for the boss / recipients, format
business metric, kpi / key number / formula, owner
data catalog entry, glossary term / meaning of a column / definition, steward
# travel: travel, trip, booking, journey
flight, flight offer / air connection / origin, destination, cabin
hotel, hotel offer / place to sleep / stars, checkin, city
booking, reservation / reserved seat or bed / reference, traveller, status
car rental, rental car / vehicle to drive / pickup, vehicle_class
itinerary, trip plan / whole journey / legs, starts_on
train ticket, rail ticket / railway fare / departure, class, seat
boarding pass / paper for the gate / gate, seat
loyalty program, frequent flyer account / collected miles / points, tier
airport, airport lounge / place planes leave from / iata, country
visa requirement, entry rule / papers for a country / nationality, destination
travel policy / what staff may spend on journeys / max_fare, cabin
exchange rate, currency rate / foreign money / base, quote_currency
# identity: auth, identity, access, login
user, user account / person with a login / email, last_login, locked
role, access role / set of rights / permissions, scope
session, login session / who is logged in / ip_address, expires_at
api key, access token / machine credential / prefix, scopes, last_used
group, directory group / collection of accounts / members, source_id
mfa device, authenticator / second factor / device_type, enrolled_at
sso connection, identity provider / sign on through another company / metadata_url, protocol
audit log, audit event / record of who did what / actor, action, occurred_at
password policy / rules for secrets / min_length, rotation_days
invitation, user invite / letter to join / email, accepted
oauth client, client application / registered program / redirect_uri, grant_types
permission, entitlement / single right / resource, effect
# media: media, video, audio, studio
video, clip / moving pictures / resolution, duration, title
playlist / sequence of songs / tracks, public
track, song / piece of music / artist, album, isrc
podcast episode / spoken audio show / season, description
image, photo, picture / still shot / width, height, alt_text
transcript, caption file / what was said, in writing / language, segments
live stream, broadcast / transmission right now / viewers, ingest_url
album, photo album / collection of pictures / cover, count
thumbnail, preview image / small picture / position_s, format
watermark, logo overlay / mark on a picture / opacity, corner
subtitle, closed caption / text under a film / locale, offset_ms
render job, encoding job / conversion of a film / preset, progress
# smart home: home, device, house, sensor
light, lamp / brightness in a room / brightness, color, room
thermostat, heating / warmth of the flat / target_temperature, mode
door lock, smart lock / keyless entrance / battery, locked
security camera, camera / eye on the yard / recording, angle
motion sensor, presence sensor / notices people / sensitivity, last_seen
scene, light scene / mood of a room / devices, transition_s
automation, routine / things that happen by themselves / trigger, actions
smart plug, power outlet / switchable socket / power_w, schedule
speaker, media player / music in the house / volume, now_playing
vacuum robot, robot vacuum / automatic cleaner / zone, battery
energy reading, meter reading / electricity used / kwh, tariff
doorbell, door bell / somebody is outside / chime, snapshot
# health: care, clinic, health, patient
patient, patient record / sick person / birthdate, blood_type, allergies
medical appointment, visit / seeing the doctor / practitioner, starts_at
prescription, medication order / medicine to take / dose, drug, refills
lab result, test result / blood values / analyte, reference_range
diagnosis, condition / what somebody suffers from / icd_code, onset
vaccination, immunization / protection by a shot / vaccine, lot_number
referral, specialist referral / sending to an expert / specialty, urgency
insurance claim / costs for the insurer / amount, status, policy_number
care plan, treatment plan / what to do to get well / goals, review_date
vital sign, measurement / pulse and pressure / value, unit
clinical note, doctor note / what the doctor wrote / author, text
allergy, intolerance / what a body does not bear / substance, severity
# maps and logistics: map, route, fleet, geo
route, driving route / way from here to there / waypoints, distance_km
vehicle, truck, van / something on wheels / license_plate, fuel_level
driver, courier / person at the wheel / licence, on_duty
place, point of interest / where something is / latitude, longitude, rating
geofence, zone / virtual border / polygon, radius
delivery stop, drop off / address to be served / window, signature
traffic condition, congestion / jam on the road / delay, segment
elevation, altitude / height of the ground / meters, datum
weather forecast, forecast / rain or sunshine / hourly, temperature
address, postal address / house number and street / street, postcode
fuel log, fuel purchase / petrol costs / litres, odometer
maintenance job, vehicle service / repair of a truck / workshop, due_km
"""

PARTS: Final = tuple(
    Thing((name,), (said,), tuple(fields.split(", ")))
    for name, said, fields in (
        ("comment", "remark", "body, author"),
        ("attachment", "file that hangs on it", "file_url, size"),
        ("label", "coloured mark", "color, text"),
        ("member", "person in it", "user_id, role"),
        ("template", "pattern to start from", "variables, body"),
        ("setting", "preference", "key, value"),
        ("history", "earlier changes", "since, until"),
        ("watcher", "follower", "user_id"),
    )
)
"""What things of all trades have."""


def _thing(line: str) -> Thing:
    names, said, fields = (tuple(part.strip() for part in parts.split(",")) for parts in line.split(" / "))
    return Thing(names, said, fields)


def _trade(block: str) -> Trade:
    head, *lines = block.strip().splitlines()
    name, servers = head.split(": ")
    return Trade(name, tuple(servers.split(", ")), tuple(map(_thing, lines)))


TRADES: Final = tuple(_trade(block) for block in _TEXT.strip().removeprefix("# ").split("\n# "))

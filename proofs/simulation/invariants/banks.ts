import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { ApiCall, InvocationRecord } from '../engine/observations.ts'
import { codeIn, fieldsOf, isAccepted, isReplay, membersOf } from './calls.ts'
import type { ObservationIndex } from './observation-index.ts'
import { ownerIn } from './raw-items.ts'
import type { Check, Checks } from './rules.ts'
import { MINUTE_MS, SECOND_MS } from './time-and-money.ts'

/** The health of banks, and the accounts that they have for numbers that are unknown here. */

type State = 'up' | 'slow' | 'down'
type Health = Item & { state: State; failures: number; failingSince?: string }

const healthOf = (item: Item | undefined): Health | undefined =>
  item?.pk === 'BANK_HEALTH' ? (item as Health) : undefined

/** Returns the states of each bank with their beginnings and ends, from the writes of its item. */
const periodsOf = ({ observations }: ObservationIndex) => {
  const ofBank = Map.groupBy(
    observations.changes.flatMap(({ after, at }) => {
      const health = healthOf(after)
      return health ? [{ bank: health.sk, state: health.state, from: at }] : []
    }),
    ({ bank }) => bank,
  )
  const first = { state: 'up' as State, from: -Infinity }
  return (bank: string) => {
    const all = [first, ...(ofBank.get(bank) ?? [])]
    return all.map(({ state, from }, n) => ({ state, from, until: all[n + 1]?.from ?? Infinity }))
  }
}

/** Returns the states that a bank had at some time from one instant to another. */
const statesIn = (periods: ReturnType<ReturnType<typeof periodsOf>>, from: number, until: number) =>
  periods.filter((one) => one.from <= until && one.until >= from).map(({ state }) => state)

const DOWN_MS = 120_000
/** The longest time from a request to the write of what it says about its bank. */
const REPLY_MS = 40_000
const DOWN_FAILURES = 5

/** A bank is down after two minutes and five failures without a reply that the service read. */
const outagesHaveFailures: Check = ({ observations, setup }, report) => {
  for (const { before, after, at } of observations.changes) {
    const health = healthOf(after)
    if (health?.state !== 'down' || healthOf(before)?.state === 'down') continue
    const milliseconds = at - Date.parse(health.failingSince ?? '')
    if (!(milliseconds >= DOWN_MS - 2 * setup.skew) || health.failures < DOWN_FAILURES)
      report(health.sk, `is down after ${milliseconds} ms and ${health.failures} failures`)
  }
}

const isSubmission = (of: InvocationRecord | undefined): boolean =>
  of?.isFinished === true && of.name.startsWith('submit-')

/** A well-formed reply ends the failures of a bank, unless its write met a fault. */
const repliesEndFailures: Check = ({ observations, queries, setup }, report) => {
  const { changes, invocations, strikes } = observations
  for (const { after, at } of changes) {
    const { sk: bank, failingSince } = healthOf(after) ?? {}
    if (!bank || !failingSince) continue
    const from = Date.parse(failingSince) + setup.staleMs + 2 * setup.skew + REPLY_MS
    const isAnswered = queries.some(
      (one) =>
        one.bank === bank &&
        one.at > from &&
        one.at < at - REPLY_MS &&
        one.isHeard &&
        // A POST follows on a query that finds nothing.
        ['accepted', 'completed', 'failed', 'rejected'].includes(one.answer) &&
        isSubmission(invocations.get(one.by ?? 0)),
    )
    const isStruck = strikes.some(
      (one) => one.at >= from && one.about.includes(`BANK_HEALTH ${bank}`),
    )
    if (isAnswered && !isStruck)
      report(bank, `has failures since ${failingSince}, but has replied since`)
  }
}

const outagesStopSubmissions: Check = (index, report) => {
  const periods = periodsOf(index)
  for (const { bank, at, since, body } of index.submissions) {
    const states = statesIn(periods(bank), since - index.setup.staleMs, at)
    if (states.every((state) => state === 'down'))
      report(String(body.reference), `was submitted while ${bank} was down`)
  }
}

/** The longest time from the end of an outage to a submission: a run of the sweep, and its messages. */
const RESUMED_MS = 100_000
const SUBMITTED_MS = 420_000

/** A debit that waits is sent to its bank when the bank replies again, if it has the time. */
const outagesEndForWaiting: Check = (index, report) => {
  const { debits, bankPostsOf, queriesOf, observations } = index
  const periods = periodsOf(index)
  const { strikes } = observations
  for (const { before, after, at } of observations.changes) {
    const debit = after?.entity === 'waiting' && !before && debits.get(`${after.reference}`)
    if (!debit) continue
    const { uuid, createdAt, changes, item } = debit
    const bank = item.bank.identifier
    const later = periods(bank).filter(({ from }) => from > at)
    const from = later.find(({ state }) => state !== 'down')?.from
    const until = (from ?? Infinity) + RESUMED_MS
    const isDownAgain = later.some((one) => one.state === 'down' && one.from < until)
    if (from === undefined || until > createdAt + SUBMITTED_MS || isDownAgain) continue
    const isSent = [...(bankPostsOf.get(uuid) ?? []), ...(queriesOf.get(uuid) ?? [])].some(
      (one) => one.at >= at && one.at <= until,
    )
    const isEnded = changes.some((step) => step.after?.status !== 'pending' && step.at <= until)
    // By a fault of the sweep, of the bank or of the debit.
    const isDelayed = strikes.some(
      ({ at: struckAt, about }) =>
        struckAt >= from - RESUMED_MS &&
        struckAt <= until &&
        (about.includes('simulated')
          ? about.includes(bank.toLowerCase())
          : /^(?:sweep|index)/.test(about) || about.includes(item.reference)),
    )
    if (!isSent && !isEnded && !isDelayed)
      report(item.reference, `still waits ${RESUMED_MS} ms after ${bank} has replied again`)
  }
}

const NO_CONNECTOR = 2003

/** Charges are refused if, and only if, their bank is down and operators have set it so. */
const outagesRefuseCharges: Check = (index, report) => {
  const periods = periodsOf(index)
  for (const { call, reply, bank, since } of chargesIn(index)) {
    const { error, details } = membersOf(reply.body)
    // A bank that is up may be silent about an account; 66 checks that.
    const isRefused =
      membersOf(error).code === NO_CONNECTOR &&
      'retry_after' in membersOf(details) &&
      !JSON.stringify(details).includes('does not answer')
    const from = since - index.setup.staleMs
    const states = statesIn(periods(bank), from, reply.at)
    const settings = index.timeline.during('whenDown', bank, from, reply.at)
    const mayRefuse = states.includes('down') && settings.includes('refuse')
    const mustRefuse =
      states.every((state) => state === 'down') && settings.every((one) => one === 'refuse')
    if (isRefused && !mayRefuse) report(bank, 'refused a charge, but it was not down')
    if (isAccepted(call) && !isReplay(reply) && mustRefuse)
      report(bank, 'took a charge while it was down')
  }
}

const chargesIn = ({ observations: { calls }, startOf }: ObservationIndex) =>
  calls.flatMap((call) => {
    const { name, reply, invocation, at } = call
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const since = startOf(invocation, at)
    return name === 'charge' && reply
      ? [{ call, reply, phone: String(phone), bank: String(bank), since }]
      : []
  })

const MISS_MS = 10 * MINUTE_MS
const NO_ACCOUNT = 1404

/** Returns the queries about the number of a charge that its invocation sent to its bank. */
const lookupsOf = (call: ApiCall, { queriesOf }: ObservationIndex) => {
  const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
  const all = queriesOf.get(String(phone)) ?? []
  return all.filter((one) => one.by === call.invocation && one.bank === bank)
}

/** A charge adds the account that its own bank has for its number. */
const accountsAreOfTheirBank: Check = (index, report) => {
  for (const { before, after, by } of index.observations.changes) {
    const call = index.callBy.get(by?.invocation ?? 0)
    if (after?.entity !== 'account' || call?.name !== 'charge') continue
    const { phone_number: phone, bank_identifier: bank } = fieldsOf(call)
    const isOfCharge = ownerIn(after.pk) === phone && ownerIn(after.sk) === bank
    const isFound = lookupsOf(call, index).some(
      ({ answer, account }) => answer === 'found' && account === after.accountNumber,
    )
    if (before || !isOfCharge || !isFound) report(after.pk, 'has an account that its bank lacks')
  }
}

/** Returns when charges learned and stored that a bank does not know a number. */
const missesIn = ({ queries, changesBy }: ObservationIndex) =>
  Map.groupBy(
    queries
      .filter(({ answer }) => answer === 'nothing')
      .flatMap(({ bank, uuid, by, since: from }) =>
        (changesBy.get(by) ?? [])
          .filter(({ after }) => after?.entity === 'missed-account')
          .map(({ at: writtenAt }) => ({ of: `${bank} ${uuid}`, from, writtenAt })),
      ),
    ({ of }) => of,
  )

/** A bank that does not know a number is not asked for it again in ten minutes. */
const missesLast: Check = (index, report) => {
  const end = MISS_MS - 2 * index.setup.skew - SECOND_MS
  const misses = missesIn(index)
  for (const { bank, uuid, since } of index.queries) {
    const isAgain = misses
      .get(`${bank} ${uuid}`)
      ?.some(({ from, writtenAt }) => writtenAt < since && since < from + end)
    if (isAgain) report(uuid, `was asked for again at ${bank}`)
  }
}

/** A charge gets the published reply, and asks only if it must. */
const unknownNumbersAreAnswered: Check = (index, report) => {
  const { isHealthy, endpoints, skew } = index.setup
  const misses = missesIn(index)
  for (const { call, reply, bank, phone, since } of chargesIn(index)) {
    if (!endpoints.includes(bank)) continue
    const settings = index.timeline.recent('accountLookup', bank, since, reply.at)
    const numbers = index.timeline.during('customer', `${phone} ${bank}`, since, reply.at)
    const isAsked = lookupsOf(call, index).length > 0
    const isRefused = codeIn(membersOf(reply.body)) === NO_ACCOUNT
    const lasts = MISS_MS + 2 * skew + SECOND_MS
    const isMissed = misses
      .get(`${bank} ${phone}`)
      ?.some(({ from, writtenAt }) => writtenAt <= reply.at && since < from + lasts)
    const mustAsk = !settings.includes('off') && numbers.every((one) => !one)
    const about = `${phone} at ${bank}`
    if ((isAsked || isRefused) && !settings.includes('on')) report(about, 'was asked for')
    if (isAsked && !numbers.includes(undefined)) report(about, 'was asked for, but is known')
    if (isRefused && !isMissed) report(about, 'was refused, but its bank was not asked')
    if (isAccepted(call) && !isReplay(reply) && mustAsk)
      report(about, 'was charged without an account')
    const isSilent = JSON.stringify(reply.body).includes('"does not answer"')
    if (isHealthy && isSilent) report(about, 'was refused, though its bank answered')
  }
}

export const checks: Checks = {
  64: [
    outagesHaveFailures,
    repliesEndFailures,
    outagesStopSubmissions,
    outagesEndForWaiting,
    outagesRefuseCharges,
  ],
  66: [accountsAreOfTheirBank, missesLast, unknownNumbersAreAnswered],
}

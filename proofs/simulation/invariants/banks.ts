import type { Item } from '../../../sandbox/aws/table/change.ts'
import type { InvocationRecord } from '../engine/observations.ts'
import { chargesIn } from './account-lookups.ts'
import { isAccepted, isReplay, membersOf } from './calls.ts'
import type { ObservationIndex } from './observation-index.ts'
import type { Check, Checks } from './rules.ts'

/** The health of banks. */

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

/** After this time without another failure, failures are counted anew. */
const FORGOTTEN_MS = 600_000

/** A write adds one failure to the stored ones, or begins anew; a reply ends all. */
const failuresAddUp: Check = ({ observations, setup }, report) => {
  for (const { before, after } of observations.changes) {
    const [stored, next] = [healthOf(before), healthOf(after)]
    if (!stored || !next || next.failures === 0) continue
    const startOf = ({ failingSince = '' }: Health) => Date.parse(failingSince)
    const isSame = next.failingSince === stored.failingSince
    const isAnew =
      next.failures === 1 &&
      (stored.failures === 0 ||
        startOf(next) - startOf(stored) > FORGOTTEN_MS - REPLY_MS - 2 * setup.skew)
    const added = Math.min(stored.failures + 1, DOWN_FAILURES)
    if (!isAnew && !(isSame && next.failures === added))
      report(next.sk, `has ${next.failures} failures after ${stored.failures}`)
  }
}

const isSubmission = (of: InvocationRecord | undefined): boolean =>
  of?.isFinished === true && of.name.startsWith('submit-')

/** A well-formed reply ends the failures of a bank, unless its write met a fault. */
const repliesEndFailures: Check = ({ observations, queries, setup, byUuid }, report) => {
  const { changes, invocations, strikes } = observations
  // A query about a debit that is no longer pending looks for a completion only.
  const isPending = (uuid: string, at: number): boolean =>
    byUuid.get(uuid)?.changes.findLast((change) => change.at <= at)?.after?.status === 'pending'
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
        isPending(one.uuid, one.at) &&
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

export const checks: Checks = {
  64: [
    outagesHaveFailures,
    failuresAddUp,
    repliesEndFailures,
    outagesStopSubmissions,
    outagesEndForWaiting,
    outagesRefuseCharges,
  ],
}

import type { Item } from '../../../sandbox/aws/table/change.ts'
import { isAccepted, membersOf } from './calls.ts'
import type { Check, ObservationIndex } from './observation-index.ts'

/** 64: the health of a bank follows from its replies, and decides its charges and submissions. */

type State = 'up' | 'slow' | 'down'
type Health = Item & { state: State; failures: number; failingSince?: string }

const healthOf = (item: Item | undefined): Health | undefined =>
  item?.pk === 'BANK_HEALTH' ? (item as Health) : undefined

type Period = { state: State; from: number }

/** Returns the states of a bank with their beginnings, from the writes of its item. */
const periodsOf = ({ observations }: ObservationIndex): ((bank: string) => Period[]) => {
  const ofBank = Map.groupBy(
    observations.changes.flatMap(({ after, at }) => {
      const health = healthOf(after)
      return health ? [{ bank: health.sk, state: health.state, from: at }] : []
    }),
    ({ bank }) => bank,
  )
  const first: Period = { state: 'up', from: Number.NEGATIVE_INFINITY }
  return (bank) => [first, ...(ofBank.get(bank) ?? [])]
}

/** Returns the states that a bank had at some time from one instant to another. */
const statesIn = (periods: readonly Period[], from: number, until: number): Set<State> =>
  new Set(
    periods
      .filter((one, n) => one.from <= until && (periods[n + 1]?.from ?? Infinity) >= from)
      .map(({ state }) => state),
  )

const DOWN_MS = 120_000
const DOWN_FAILURES = 5
const NO_CONNECTOR = 2003

/** 64: a bank is down after two minutes and five failures without a reply that the service read. */
export const outagesHaveFailures: Check = ({ observations }, report) => {
  const { skew } = observations.setup
  for (const { before, after, at } of observations.changes) {
    const health = healthOf(after)
    if (health?.state !== 'down' || healthOf(before)?.state === 'down') continue
    const since = Date.parse(health.failingSince ?? '')
    if (!(at - since >= DOWN_MS - 2 * skew) || health.failures < DOWN_FAILURES)
      report(health.sk, `is down after ${at - since} ms and ${health.failures} failures`)
  }
}

/** 64: a bank that is down gets no submission, and each debit that waits for it has one item. */
export const outagesStopSubmissions: Check = (index, report) => {
  const periods = periodsOf(index)
  const { staleMs } = index.observations.setup
  for (const { bank, at, by, body } of index.bankPostsTo.get('/submissions') ?? []) {
    const states = statesIn(periods(bank), index.startOf(by, at) - staleMs, at)
    if (states.size === 1 && states.has('down'))
      report(String(body.reference), `was submitted while ${bank} was down`)
  }
}

/** The longest time from the end of an outage to a submission: a run of the sweep, and its messages. */
const RESUMED_MS = 100_000
const SUBMITTED_MS = 420_000

/** The faults that can delay the submission of a debit after an outage. */
const delaysOf = ({ observations: { strikes } }: ObservationIndex) => {
  const bySweepOrBank = strikes.filter(({ about }) => /^(?:sweep|index)|simulated/.test(about))
  return (reference: string, bank: string, from: number, until: number): boolean =>
    [...bySweepOrBank, ...strikes.filter(({ about }) => about.includes(reference))].some(
      ({ at, about }) =>
        at >= from &&
        at <= until &&
        (!/simulated/.test(about) || about.includes(bank.toLowerCase())),
    )
}

/** 64: a debit that waits is sent to its bank when the bank replies again, if it has the time. */
export const outagesEndForWaiting: Check = (index, report) => {
  const periods = periodsOf(index)
  const isDelayed = delaysOf(index)
  for (const { before, after, at } of index.observations.changes) {
    const debit = after?.entity === 'waiting' && !before && index.debits.get(`${after.reference}`)
    if (!debit) continue
    const { uuid, createdAt, changes, item } = debit
    const bank = item.bank.identifier
    const from = periods(bank).find((one) => one.from > at && one.state !== 'down')?.from
    const until = (from ?? Infinity) + RESUMED_MS
    const isDownAgain = periods(bank).some(
      (one) => one.state === 'down' && one.from > at && one.from < until,
    )
    if (from === undefined || until > createdAt + SUBMITTED_MS || isDownAgain) continue
    const isSent = [
      ...(index.bankPostsOf.get(uuid) ?? []),
      ...(index.queriesOf.get(uuid) ?? []),
    ].some((one) => one.at >= at && one.at <= until)
    const isEnded = changes.some(
      (change) => change.after?.status !== 'pending' && change.at <= until,
    )
    if (!isSent && !isEnded && !isDelayed(item.reference, bank, from - RESUMED_MS, until))
      report(item.reference, `still waits ${RESUMED_MS} ms after ${bank} has replied again`)
  }
}

/** 64: charges are refused if, and only if, their bank is down and operators have set it so. */
export const outagesRefuseCharges: Check = (index, report) => {
  const periods = periodsOf(index)
  const { timeline, startOf, observations } = index
  const { staleMs } = observations.setup
  for (const call of observations.calls) {
    const { name, sent, at, reply } = call
    if (name !== 'charge' || !reply) continue
    const body = membersOf(sent)
    const bank = String(membersOf(body.debit_request ?? body).bank_identifier)
    const details = membersOf(membersOf(reply.body).details)
    // A bank that is up may be silent about an account; 66 checks that.
    const isRefused =
      membersOf(membersOf(reply.body).error).code === NO_CONNECTOR &&
      'retry_after' in details &&
      !JSON.stringify(details).includes('does not answer')
    const from = startOf(call.invocation, at) - staleMs
    const states = statesIn(periods(bank), from, reply.at)
    const settings = timeline.during('whenDown', bank, from, reply.at)
    const mayRefuse = states.has('down') && settings.includes('refuse')
    const mayAccept =
      states.size > 1 || !states.has('down') || settings.some((one) => one !== 'refuse')
    if (isRefused && !mayRefuse) report(bank, 'refused a charge, but it was not down')
    const isReplay = reply.headers['Idempotent-Replayed'] === 'true'
    if (isAccepted(call) && !isReplay && !mayAccept) report(bank, 'took a charge while it was down')
  }
}

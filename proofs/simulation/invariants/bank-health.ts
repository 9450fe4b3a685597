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

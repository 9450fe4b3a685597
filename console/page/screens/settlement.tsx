import type { BatchResult } from '../../../shared/views/batch.ts'
import type { SettlementRunResult } from '../../../shared/views/operator/settlement.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { type CallOptions, isSandbox, operate } from '../client.ts'
import { dueBatches } from '../due-batches.ts'
import { Call } from '../parts/call.tsx'
import { chosen, serviceDay } from '../parts/filters.tsx'
import { listScreen } from '../parts/list.tsx'
import { Payment } from '../parts/money.tsx'
import { Data, Facts, Panel } from '../parts/screen.tsx'
import { named, Table, type ViewColumns } from '../parts/table.tsx'
import { dayText, Link, Noted, Status } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

/** Why a batch is not paid, or how it was completed. */
const noteOf = ({ sealed_at, status, net, made_good_by, failure }: BatchResult) => {
  if (made_good_by) {
    return (
      <>
        offset by <Link id={made_good_by} mayWrap />
      </>
    )
  }
  if (!sealed_at) return 'is being built'
  return status === 'pending' && !isAboveZero(net) ? 'waits for later batches' : failure
}

/** The stored amount is that of the last payout, which may have failed. */
const paidOf = ({ status, paid }: BatchResult) => (status === 'completed' ? paid : null)

const columns: ViewColumns<BatchResult> = {
  Batch: ({ id }) => <Link id={id} />,
  Provider: 'provider',
  Status: (batch) => <Noted of={<Status value={batch.status} />}>{noteOf(batch)}</Noted>,
  ...named('debits', 'gross'),
  Fees: 'fee',
  ...named('adjustments', 'net'),
  Paid: { number: paidOf },
}

const runText = ({ built, paid, unpaid, in_work }: SettlementRunResult): string => {
  const reasons = unpaid.map(
    ({ batch, message, details }) =>
      `${batch} is not paid: ${typeof details === 'string' ? details : message}`,
  )
  const counts = `Built: ${built.length}. Paid: ${paid.length}. In progress: ${in_work.length}.`
  return [counts, ...reasons].join(' ')
}

const BATCHES_MAX = 1_000

/** The batches that a run pays, by the values of its form and whatever the screen shows. */
const Due = ({ values: { date = '', provider } }: { values: CallOptions }) => {
  const options = { ...(provider && { provider }), limit: String(BATCHES_MAX) }
  const batches = useLoaded((signal) => operate('settlement', 'list', options, signal), [provider])
  return (
    <Data of={batches}>
      {(loaded) => {
        const { sum, providers } = dueBatches(loaded, { date, ...(provider && { provider }) })
        return (
          <>
            {providers.length > 0 ? (
              <Payment amount={`at most ${sum}`} to={providers.join(', ')} />
            ) : (
              <p class="muted">No batch waits for its payout.</p>
            )}
            {loaded.length === BATCHES_MAX && (
              <p class="notice warn">Batches before the newest {BATCHES_MAX} are not counted.</p>
            )}
          </>
        )
      }}
    </Data>
  )
}

const Run = () => (
  <Call
    label="Run a day"
    kind="primary"
    of={['settlement', 'run']}
    about={`Builds the batches of a day from the debits completed before it, and pays the batches of earlier days.${
      isSandbox() ? ' Tomorrow settles the debits of today.' : ''
    }`}
    confirmation={(values) => <Due values={values} />}
    only={['date', 'provider']}
    values={{ date: serviceDay(isSandbox() ? 1 : 0), ...chosen('provider') }}
    movesMoney
    done={runText}
  />
)

const Day = ({ day, batches }: { day: string; batches: readonly BatchResult[] }) => {
  const sum = (of: (batch: BatchResult) => string | null) => sumOf(batches.map(of))
  return (
    <Panel title={dayText(day)}>
      <div class="stack">
        <Facts
          kind="figures"
          of={{
            Gross: sum(({ gross }) => gross),
            Fees: sum(({ fee }) => fee),
            Adjustments: sum(({ adjustments }) => adjustments),
            Net: sum(({ net }) => net),
            'Paid out': sum(paidOf),
          }}
        />
        <Table
          label={`Batches of ${dayText(day)}`}
          columns={columns}
          rows={batches}
          isAligned
          keyOf={({ id }) => id}
        />
      </div>
    </Panel>
  )
}

const Days = ({ rows }: { rows: readonly BatchResult[] }) => (
  <div class="stack">
    {[...new Set(rows.map(({ date }) => date))].map((day) => (
      <Day key={day} day={day} batches={rows.filter(({ date }) => date === day)} />
    ))}
  </div>
)

/** The batches of all providers by settlement day. */
export const SettlementScreen = listScreen({
  title: 'Settlement',
  about: () => 'The newest batches by settlement day, in GHS. A payout starts the day after.',
  label: 'Batches',
  noun: 'settlement',
  row: 'batch',
  entities: ['batch'],
  actions: () => <Run />,
  columns,
  keyOf: ({ id }) => id,
  draw: Days,
  empty: [
    'No batches yet',
    'A nightly run settles the completed debits of the day before. “Run a day” settles now.',
  ],
})

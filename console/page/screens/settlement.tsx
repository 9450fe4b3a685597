import type { BatchResult } from '../../../shared/views/batch.ts'
import { isBelowZero, sumOf } from '../amounts.ts'
import { type CallOptions, isSandbox, LIMIT_MAX } from '../client.ts'
import { dueBatches, isHeld } from '../due-batches.ts'
import { Call } from '../parts/call.tsx'
import { chosen, serviceDay } from '../parts/field.tsx'
import { listScreen } from '../parts/list.tsx'
import { Data, Facts, Omitted, Panel, Payment } from '../parts/screen.tsx'
import { named, Table, type ViewColumns } from '../parts/table.tsx'
import { dayText, Link, Noted, Status } from '../parts/values.tsx'
import { useOperator, usePage } from '../use-operator.ts'

/** The status of a batch with why it is not paid, or how it was completed. */
export const statusOf = ({ sealed_at, status, net, made_good_by, failure }: BatchResult) => {
  const isWaiting = status === 'pending' && isBelowZero(net)
  return (
    <Noted of={<Status value={status} />}>
      {made_good_by ? (
        <>
          offset by <Link id={made_good_by} mayWrap />
        </>
      ) : (
        (!sealed_at && 'is being built') || (isWaiting ? 'waits for later batches' : failure)
      )}
    </Noted>
  )
}

/** The stored amount is that of the last payout, which may have failed. */
const paidOf = ({ status, paid }: BatchResult) => (status === 'completed' ? paid : null)

const columns: ViewColumns<BatchResult> = {
  Batch: ({ id }) => <Link id={id} />,
  ...named('provider'),
  Status: statusOf,
  ...named('debits', 'gross', 'fee as Fees', 'adjustments', 'net'),
  Paid: { number: paidOf },
}

export const PENDING_BATCHES = { status: 'pending', limit: LIMIT_MAX } as const

/** The batches that a run pays, by the values of its form and whatever the screen shows. */
const Due = ({ date = '', provider }: Partial<CallOptions>) => {
  const owner = { ...(provider && { provider }) }
  const { data: payees = [] } = useOperator('provider', 'list', {})
  const held = payees.filter(isHeld).map(({ id }) => id)
  return (
    <Data of={usePage('settlement', { ...owner, ...PENDING_BATCHES })}>
      {(page) => {
        const { sum, providers } = dueBatches(page.rows, { date, held, ...owner })
        return (
          <>
            {providers.length > 0 ? (
              <Payment amount={`at most ${sum}`} to={providers.join(', ')} />
            ) : (
              <p class="muted">This run pays no batch.</p>
            )}
            <Omitted rows="Batches" of={page} />
          </>
        )
      }}
    </Data>
  )
}

type DayProps = { day: string; batches: readonly BatchResult[]; isWhole: boolean }

const Day = ({ day, batches, isWhole }: DayProps) => {
  const sum = (of: (batch: BatchResult) => string | null) => sumOf(batches.map(of))
  return (
    <Panel title={dayText(day)}>
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
      {!isWhole && (
        <p class="muted">The figures are of the batches below; the day may have more.</p>
      )}
      <Table label={`Batches of ${dayText(day)}`} columns={columns} rows={batches} isAligned />
    </Panel>
  )
}

export const SettlementScreen = listScreen({
  about: () => 'The newest batches by settlement day, in GHS. A payout starts the day after.',
  label: 'Batches',
  noun: 'settlement',
  row: 'batch',
  entities: ['batch'],
  actions: () => (
    <Call
      of={['settlement', 'run']}
      about={`Builds the batches of a day from the debits completed before it, and pays the batches of earlier days.${
        isSandbox() ? ' Tomorrow settles the debits of today.' : ''
      }`}
      confirmation={(values) => <Due {...values} />}
      values={{ date: serviceDay(isSandbox() ? 1 : 0), ...chosen('provider') }}
    />
  ),
  columns,
  draw: ({ rows, isFirst, next }) => {
    const isFiltered = Object.keys(chosen('provider', 'status')).length > 0
    const cut = [...(isFirst ? [] : [rows[0]?.date]), ...(next ? [rows.at(-1)?.date] : [])]
    return (
      <div class="stack">
        {[...Map.groupBy(rows, ({ date }) => date)].map(([day, batches]) => (
          <Day key={day} day={day} batches={batches} isWhole={!isFiltered && !cut.includes(day)} />
        ))}
      </div>
    )
  },
  empty: [
    'No batches yet',
    'A nightly run settles the completed debits of the day before. “Run a day” settles now.',
  ],
})

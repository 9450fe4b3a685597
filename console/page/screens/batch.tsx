import type { BatchResult, SettlementReport } from '../../../shared/views/batch.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { mayUse, operate } from '../client.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { membersOf } from '../parts/members.tsx'
import { Sum } from '../parts/money.tsx'
import { PayoutActions } from '../parts/payout-actions.tsx'
import { Data, Empty, Facts, Panel, Screen } from '../parts/screen.tsx'
import { type Columns, FirstRows } from '../parts/table.tsx'
import { Link } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'
import { accountText } from './providers.tsx'

const columns: Columns<SettlementReport['lines'][number]> = {
  Type: 'type',
  Debit: 'reference',
  'Provider’s reference': 'partner_reference',
  Completed: 'completed_at',
  Gross: 'gross',
  Fee: 'fee',
  Net: 'net',
}

const Lines = ({ report }: { report: SettlementReport | { url: string } }) =>
  'url' in report ? (
    <Empty
      of={[
        'The report is too large for this page',
        <a key="file" href={report.url}>
          Download it as JSON
        </a>,
      ]}
    />
  ) : (
    <FirstRows
      label="Lines"
      columns={columns}
      rows={report.lines}
      keyOf={({ type, reference }) => `${type} ${reference}`}
    />
  )

const Report = ({ batch: { id, sealed_at } }: { batch: BatchResult }) => {
  const load = sealed_at ? () => operate('settlement', 'report', { batch: id }) : undefined
  const report = useLoaded(load, [id, sealed_at])
  return (
    <Panel title="Lines">
      {sealed_at ? (
        <Data of={report}>{(loaded) => <Lines report={loaded} />}</Data>
      ) : (
        <Empty of={['The batch is being built', 'Its lines appear when it is complete.']} />
      )}
    </Panel>
  )
}

const scheduleText = (schedule: BatchResult['fee_schedule']): string => {
  if (!schedule) return 'none; the bank’s fee applies'
  const { basis_points, fixed, minimum, maximum } = schedule
  return [
    `${basis_points / 100} %`,
    isAboveZero(fixed) && `plus ${fixed}`,
    minimum && `at least ${minimum}`,
    maximum && `at most ${maximum}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const Summary = ({ batch }: { batch: BatchResult }) => (
  <Panel title="Batch">
    <Facts
      of={{
        ...membersOf(batch, { Provider: 'provider', Day: 'date', Lines: 'count', Gross: 'gross' }),
        ...membersOf(batch, { Fees: 'fee', Adjustments: 'adjustments' }),
        Net: batch.net && <Sum of={batch.net} />,
        'Fee schedule': scheduleText(batch.fee_schedule),
        ...membersOf(batch, { Built: 'sealed_at', 'Payable on': 'payable_on' }),
      }}
    />
  </Panel>
)

/** @returns the part of the net that offset earlier batches with a net below zero */
const keptFor = ({ status, net, paid }: BatchResult): string | null => {
  if (status !== 'completed' || net === null || paid === null || net === paid) return null
  return `${sumOf([net, `-${paid}`])} GHS`
}

const Offsets = ({ of: batches }: { of: readonly BatchResult[] }) => (
  <ul>
    {batches.map(({ id, net }) => (
      <li key={id}>
        <Link id={id} mayWrap /> {net}
      </li>
    ))}
  </ul>
)

type PayoutProps = { batch: BatchResult; account: string | null; offset: readonly BatchResult[] }

const Payout = ({ batch, account, offset }: PayoutProps) => (
  <Panel title="Payout">
    <Facts
      of={{
        ...membersOf(batch, { Status: 'status' }),
        [batch.status === 'completed' ? 'Paid' : 'Amount']: batch.paid && <Sum of={batch.paid} />,
        'Kept for offsets': keptFor(batch),
        Account: account,
        ...membersOf(batch, { Failure: 'failure', 'Bank’s reference': 'bank_reference' }),
        ...membersOf(batch, { Started: 'processed_at', Completed: 'completed_at' }),
        ...membersOf(batch, { Failed: 'failed_at', 'Offset by': 'made_good_by' }),
        Offsets: offset.length > 0 && <Offsets of={offset} />,
        ...membersOf(batch, { UUID: 'uuid' }),
      }}
    />
    {batch.status === 'pending' && batch.sealed_at && !isAboveZero(batch.net) && (
      <p class="muted">The net is not above zero. Later batches of the provider offset it.</p>
    )}
  </Panel>
)

const isBelowZero = ({ status, net }: BatchResult): boolean =>
  status === 'pending' && net?.startsWith('-') === true

/** A batch with its lines and payout. */
export const BatchScreen = () => {
  const { id } = place.value
  const watch = { entities: ['batch'] }
  const batch = useOperator('settlement', 'show', { batch: id }, watch)
  const provider = batch.data?.provider
  const siblings = useLoaded(
    provider ? () => operate('settlement', 'list', { provider, limit: '100' }) : undefined,
    [provider],
    watch,
  )
  const payee = useLoaded(
    provider && mayUse('provider') ? () => operate('provider', 'show', { provider }) : undefined,
    [provider],
  )
  const account = accountText(payee.data)
  const isReduced = siblings.data?.some(isBelowZero) ?? false
  const offset = siblings.data?.filter(({ made_good_by }) => made_good_by === id) ?? []
  return (
    <Screen
      title={id}
      back={['settlement', 'batches']}
      actions={
        batch.data && (
          <>
            {batch.data.sealed_at && (
              <CsvButton
                name={`${id}.csv`}
                load={() => operate('settlement', 'report', { batch: id, format: 'csv' })}
              />
            )}
            <PayoutActions batch={batch.data} account={account} isReduced={isReduced} />
          </>
        )
      }
    >
      <Data of={batch}>
        {(shown) => (
          <div class="stack">
            <div class="columns">
              <Summary batch={shown} />
              <Payout batch={shown} account={account} offset={offset} />
            </div>
            <Report batch={shown} />
          </div>
        )}
      </Data>
    </Screen>
  )
}

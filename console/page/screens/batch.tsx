import type { BatchResult, SettlementReport } from '../../../shared/views/batch.ts'
import type { ProviderResult } from '../../../shared/views/operator/provider.ts'
import { isAboveZero, sumOf, withSeparators } from '../amounts.ts'
import { mayUse, operate } from '../client.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { PayoutActions } from '../parts/payout-actions.tsx'
import { Data, Empty, Facts, Panel, Screen } from '../parts/screen.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { dayText, Link, Status, Time } from '../parts/values.tsx'
import { linkBackTo, place } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

const columns: Column<SettlementReport['lines'][number]>[] = [
  { title: 'Type', cell: ({ type }) => type },
  { title: 'Debit', cell: ({ reference }) => <Link id={reference} /> },
  {
    title: 'Provider’s reference',
    cell: ({ partner_reference }) => partner_reference,
    isWide: true,
  },
  { title: 'Completed', cell: ({ completed_at }) => <Time at={completed_at} /> },
  { title: 'Gross', cell: ({ gross }) => gross, isNumber: true },
  { title: 'Fee', cell: ({ fee }) => fee, isNumber: true },
  { title: 'Net', cell: ({ net }) => net, isNumber: true },
]

const LINES_MAX = 500

const Lines = ({ report }: { report: SettlementReport | { url: string } }) => {
  if ('url' in report) {
    return (
      <Empty title="The report is too large for this page">
        <a href={report.url}>Download it as JSON</a>
      </Empty>
    )
  }
  const { lines } = report
  return (
    <>
      <Table
        label="Lines"
        columns={columns}
        rows={lines.slice(0, LINES_MAX)}
        keyOf={({ type, reference }) => `${type} ${reference}`}
      />
      {lines.length > LINES_MAX && (
        <p class="muted">
          The first {LINES_MAX} of {lines.length} lines. The CSV file has all.
        </p>
      )}
    </>
  )
}

const Report = ({ batch: { id, sealed_at } }: { batch: BatchResult }) => {
  const load = sealed_at ? () => operate('settlement', 'report', { batch: id }) : undefined
  const report = useLoaded(load, [id, sealed_at])
  return (
    <Panel title="Lines">
      {sealed_at ? (
        <Data of={report}>{(loaded) => <Lines report={loaded} />}</Data>
      ) : (
        <Empty title="The batch is being built">Its lines appear when it is complete.</Empty>
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
      rows={[
        ['Provider', batch.provider],
        ['Day', dayText(batch.date)],
        ['Lines', batch.count],
        ['Gross', batch.gross],
        ['Fees', batch.fee],
        ['Adjustments', batch.adjustments],
        ['Net', batch.net && <strong>{withSeparators(`${batch.net} GHS`)}</strong>],
        ['Fee schedule', scheduleText(batch.fee_schedule)],
        ['Built', batch.sealed_at && <Time at={batch.sealed_at} />],
        ['Payable on', batch.payable_on && dayText(batch.payable_on)],
      ]}
    />
  </Panel>
)

/** @returns the account that a provider is paid to */
const accountText = (provider: ProviderResult | undefined): string | null => {
  const account = provider?.settlement_account
  return account ? `${account.account_name}, ${account.bank} ${account.account_number}` : null
}

/** @returns the part of the net that offset earlier batches with a net below zero */
const keptFor = ({ status, net, paid }: BatchResult): string | null => {
  if (status !== 'completed' || net === null || paid === null || net === paid) return null
  return `${sumOf([net, `-${paid}`])} GHS`
}

const isBelowZero = ({ status, net }: BatchResult): boolean =>
  status === 'pending' && net?.startsWith('-') === true

type PayoutProps = { batch: BatchResult; account: string | null; offset: readonly BatchResult[] }

const Payout = ({ batch, account, offset }: PayoutProps) => (
  <Panel title="Payout">
    <Facts
      rows={[
        ['Status', <Status value={batch.status} />],
        [
          batch.status === 'completed' ? 'Paid' : 'Amount',
          batch.paid && <strong>{withSeparators(`${batch.paid} GHS`)}</strong>,
        ],
        ['Kept for offsets', keptFor(batch)],
        ['Account', account],
        ['Failure', batch.failure],
        ['Bank’s reference', batch.bank_reference],
        ['Started', batch.processed_at && <Time at={batch.processed_at} />],
        ['Completed', batch.completed_at && <Time at={batch.completed_at} />],
        ['Failed', batch.failed_at && <Time at={batch.failed_at} />],
        ['Offset by', batch.made_good_by && <Link id={batch.made_good_by} mayWrap />],
        [
          'Offsets',
          offset.length > 0 ? (
            <ul>
              {offset.map(({ id, net }) => (
                <li key={id}>
                  <Link id={id} mayWrap /> {net}
                </li>
              ))}
            </ul>
          ) : null,
        ],
        ['UUID', <span class="mono">{batch.uuid}</span>],
      ]}
    />
    {batch.status === 'pending' && batch.sealed_at && !isAboveZero(batch.net) && (
      <p class="muted">The net is not above zero. Later batches of the provider offset it.</p>
    )}
  </Panel>
)

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
  return (
    <Screen
      title={id}
      about={<a href={linkBackTo('settlement')}>All batches</a>}
      actions={
        batch.data && (
          <>
            {batch.data.sealed_at && (
              <CsvButton
                name={`${id}.csv`}
                load={() => operate('settlement', 'report', { batch: id, format: 'csv' })}
              />
            )}
            <PayoutActions
              batch={batch.data}
              account={account}
              isReduced={siblings.data?.some(isBelowZero) ?? false}
              reload={batch.reload}
            />
          </>
        )
      }
    >
      <Data of={batch}>
        {(shown) => (
          <div class="stack">
            <div class="columns">
              <Summary batch={shown} />
              <Payout
                batch={shown}
                account={account}
                offset={siblings.data?.filter(({ made_good_by }) => made_good_by === id) ?? []}
              />
            </div>
            <Report batch={shown} />
          </div>
        )}
      </Data>
    </Screen>
  )
}

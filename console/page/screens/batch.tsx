import type { BatchResult, SettlementReport } from '../../../shared/views/batch.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { mayUse, operate } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { CsvButton } from '../parts/csv-button.tsx'
import { Payment, Sum } from '../parts/money.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { FirstRows, named, View, type ViewColumns } from '../parts/table.tsx'
import { Link } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'
import { accountText } from './owners.tsx'

type PayoutActionsProps = {
  batch: BatchResult
  account: string | null
  /** Whether earlier batches with a net below zero reduce the payout. */
  isReduced: boolean
}

type PayoutCall = { verb: 'process' | 'retry'; label: string; about?: string; done: string }

/** The call that pays a batch in each status; null: it is paid. */
const payouts: Record<BatchResult['status'], PayoutCall | null> = {
  pending: { verb: 'process', label: 'Pay now', done: 'The payout is sent.' },
  processing: {
    verb: 'process',
    label: 'Query the bank',
    about: 'Sends the same payout again. The bank pays a uuid once and reports its status.',
    done: 'The bank’s reply is recorded.',
  },
  completed: null,
  failed: {
    verb: 'retry',
    label: 'Retry payout',
    about: 'Pays the batch again under a new uuid. Correct the account first.',
    done: 'The payout is sent again.',
  },
}

/** The calls that the status of a batch allows. */
const PayoutActions = ({ batch, account, isReduced }: PayoutActionsProps) => {
  const { id, provider, net, sealed_at } = batch
  const payout = payouts[batch.status]
  if (!payout || !sealed_at || !isAboveZero(net)) return null
  const { verb, ...texts } = payout
  const amount = isReduced ? `at most ${net}` : String(net)
  const payee = account ? `${provider}: ${account}` : provider
  const confirmation = () => <Payment amount={amount} to={payee} />
  return (
    <>
      <Call {...texts} of={['settlement', verb, { batch: id }]} confirmation={confirmation} />
      <Call
        label="Record payout"
        of={['settlement', 'complete', { batch: id }]}
        confirmation={confirmation}
        done="The payout is recorded."
      />
    </>
  )
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
      columns={{
        Type: 'type',
        Debit: 'reference',
        'Provider’s reference': 'partner_reference',
        ...named('completed_at', 'gross', 'fee', 'net'),
      }}
      rows={report.lines}
      keyOf={({ type, reference }) => `${type} ${reference}`}
    />
  )

const Report = ({ batch: { id, sealed_at } }: { batch: BatchResult }) => {
  const load = sealed_at
    ? (signal: AbortSignal) => operate('settlement', 'report', { batch: id }, signal)
    : undefined
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

const summary: ViewColumns<BatchResult> = {
  Provider: 'provider',
  Day: 'date',
  Lines: 'count',
  Gross: 'gross',
  Fees: 'fee',
  Adjustments: 'adjustments',
  Net: ({ net }) => net && <Sum of={net} />,
  'Fee schedule': ({ fee_schedule }) => scheduleText(fee_schedule),
  Built: 'sealed_at',
  'Payable on': 'payable_on',
}

const sumIf = (isShown: boolean, amount: string | null) =>
  isShown && amount !== null && <Sum of={amount} />

/** Returns the part of the net that offset earlier batches with a net below zero. */
const keptFor = ({ status, net, paid }: BatchResult) =>
  status === 'completed' && net && paid && net !== paid && `${sumOf([net, `-${paid}`])} GHS`

type PaidBatch = BatchResult & { account: string | null; offset: readonly BatchResult[] }

const payout: ViewColumns<PaidBatch> = {
  Status: 'status',
  Paid: ({ status, paid }) => sumIf(status === 'completed', paid),
  Amount: ({ status, paid }) => sumIf(status !== 'completed', paid),
  'Kept for offsets': keptFor,
  ...named('account', 'failure'),
  'Bank’s reference': 'bank_reference',
  Started: 'processed_at',
  ...named('completed_at', 'failed_at'),
  'Offset by': 'made_good_by',
  Offsets: ({ offset }) =>
    offset.map(({ id, net }) => (
      <div key={id}>
        <Link id={id} mayWrap /> {net}
      </div>
    )),
  UUID: 'uuid',
}

const isBelowZero = ({ status, net }: BatchResult): boolean =>
  status === 'pending' && net?.startsWith('-') === true

/** A batch with its lines and payout. */
export const BatchScreen = () => {
  const { id } = place.value
  const watch = { entities: ['batch'] }
  const batch = useOperator('settlement', 'show', { batch: id }, watch)
  const provider = batch.data?.provider
  const siblings = useLoaded(
    provider
      ? (signal) => operate('settlement', 'list', { provider, limit: '100' }, signal)
      : undefined,
    [provider],
    watch,
  )
  const payee = useLoaded(
    provider && mayUse('provider')
      ? (signal) => operate('provider', 'show', { provider }, signal)
      : undefined,
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
              <Panel title="Batch">
                <View of={shown} rows={summary} />
              </Panel>
              <Panel title="Payout">
                <View of={{ ...shown, account, offset }} rows={payout} />
                {shown.status === 'pending' && shown.sealed_at && !isAboveZero(shown.net) && (
                  <p class="muted">
                    The net is not above zero. Later batches of the provider offset it.
                  </p>
                )}
              </Panel>
            </div>
            <Report batch={shown} />
          </div>
        )}
      </Data>
    </Screen>
  )
}

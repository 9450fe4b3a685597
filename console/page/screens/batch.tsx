import type { BatchResult } from '../../../shared/views/batch.ts'
import type { ProviderResult } from '../../../shared/views/operator/provider.ts'
import { isAboveZero, isBelowZero, sumOf, withSeparators } from '../amounts.ts'
import { isRefusal, operate } from '../client.ts'
import { isPayable } from '../due-batches.ts'
import { CsvButton } from '../parts/button.tsx'
import { Call } from '../parts/call.tsx'
import { accountText } from '../parts/money-terms.tsx'
import { Data, Panel, Screen, Sum, TooLarge } from '../parts/screen.tsx'
import { FirstRows, named, View, type ViewColumns } from '../parts/table.tsx'
import { Link, Noted, Time } from '../parts/values.tsx'
import { place } from '../route.ts'
import { useIsHeld, useOperator } from '../use-operator.ts'
import { statusOf } from './settlement.tsx'

type PaidBatch = BatchResult & {
  payee: ProviderResult | undefined
  isHeldByRestore: boolean
  offset: readonly BatchResult[]
}

const query = {
  label: 'Query the bank',
  about: 'Sends the same payout again. The bank pays a uuid once and reports its status.',
  done: 'The bank’s reply is recorded.',
}

const transfer = {
  label: 'Record transfer',
  about: 'Records that the provider has transferred what it still owes for the batch.',
  done: 'The transfer is recorded.',
}

/** The calls that the status of a batch allows. */
const PayoutActions = ({ id, net, status, sealed_at }: BatchResult) => {
  if (status === 'completed' || !sealed_at) return null
  if (isBelowZero(net)) return <Call {...transfer} of={['settlement', 'complete', { batch: id }]} />
  if (!isAboveZero(net)) return null
  const texts = status === 'processing' ? query : {}
  const verb = status === 'failed' ? 'retry' : 'process'
  return (
    <>
      <Call {...texts} of={['settlement', verb, { batch: id }]} />
      <Call of={['settlement', 'complete', { batch: id }]} />
      {status === 'processing' && <Call of={['settlement', 'fail', { batch: id }]} />}
    </>
  )
}

const Lines = ({ id, sealed_at }: BatchResult) => {
  // The link to a large report expires after 15 minutes.
  const watch = { entities: ['batch'], pollMs: 60_000, isKept: false }
  const report = useOperator('settlement', 'report', sealed_at ? { batch: id } : undefined, watch)
  // The report of a sealed batch is refused until it is written.
  const isUnbuilt = !sealed_at || isRefusal(report.error)
  const unbuilt = ['The batch is being built', 'Its lines appear when it is complete.'] as const
  return (
    <Panel title="Lines">
      <Data of={report} none={isUnbuilt && unbuilt}>
        {(loaded) => {
          if ('download' in loaded) return <TooLarge name="report" href={loaded.download} />
          return (
            <FirstRows
              label="Lines"
              columns={{
                ...named('type', 'reference as Debit', 'partner_reference'),
                ...named('completed_at', 'gross', 'fee', 'net'),
              }}
              rows={loaded.lines}
            />
          )
        }}
      </Data>
    </Panel>
  )
}

const scheduleText = ({ fee_schedule: schedule }: BatchResult): string => {
  if (!schedule) return 'none; the bank’s fee applies'
  const { basis_points, fixed, minimum, maximum } = schedule
  const parts = [
    `${basis_points / 100} %`,
    isAboveZero(fixed) && `plus ${fixed}`,
    minimum && `at least ${minimum}`,
    maximum && `at most ${maximum}`,
  ]
  return parts.filter(Boolean).join(', ')
}

const summary: ViewColumns<BatchResult> = {
  ...named('provider', 'date', 'count as Lines', 'gross', 'fee as Fees', 'adjustments'),
  Net: ({ net }) => net && <Sum of={net} />,
  'Fee schedule': scheduleText,
  ...named('sealed_at as Built', 'payable_on'),
}

/** Returns the part of the net that offset earlier batches with a net below zero. */
const keptFor = ({ status, net, paid }: BatchResult) =>
  status === 'completed' &&
  isAboveZero(net) &&
  net &&
  paid &&
  net !== paid &&
  withSeparators(`${sumOf([net, `-${paid}`])} GHS`)

/** Says why a payout that waits is not paid on its day. */
const Hold = (batch: PaidBatch) => {
  const { provider, payee, isHeldByRestore } = batch
  if (!isPayable(batch)) return null
  if (isHeldByRestore) return 'held by a restore'
  if (payee?.status === 'suspended') return `held: ${provider} is disabled`
  return <Time at={payee?.payouts_held_until} label="held until" />
}

const payout: ViewColumns<PaidBatch> = {
  Status: (batch) => <Noted of={statusOf(batch)}>{Hold(batch)}</Noted>,
  Paid: ({ status, paid }) => status === 'completed' && paid && <Sum of={paid} />,
  Amount: ({ status, paid }) => status !== 'completed' && paid && <Sum of={paid} />,
  'Kept for offsets': keptFor,
  // No view has the account of a sent payout.
  'Pays to': (batch) => isPayable(batch) && accountText(batch.payee),
  'Retry pays to': ({ status, payee }) => status === 'failed' && accountText(payee),
  ...named('bank_reference', 'processed_at as Started', 'completed_at', 'failed_at'),
  Offsets: ({ offset }) =>
    offset.map(({ id, net }) => (
      <div key={id}>
        <Link id={id} mayWrap /> {net}
      </div>
    )),
  ...named('uuid'),
}

/** Selects the batches that a payout can offset, the newest first: those that were opened before its own. */
const earlierThan = ({ provider, date, created_at }: BatchResult) => {
  const opened = created_at.slice(0, 10)
  return { provider, to: opened > date ? opened : date, limit: '100' }
}

export const BatchScreen = () => {
  const { id } = place.value
  const watch = { entities: ['batch'] }
  const batch = useOperator('settlement', 'show', { batch: id }, watch)
  const owner = batch.data && { provider: batch.data.provider }
  const earlier = batch.data && earlierThan(batch.data)
  const { data: siblings = [] } = useOperator('settlement', 'list', earlier, watch)
  const isHeldByRestore = useIsHeld(owner?.provider)
  const { data: payee } = useOperator('provider', 'show', owner, { entities: ['provider'] })
  const offset = siblings.filter(({ made_good_by }) => made_good_by === id)
  const paid = batch.data && { ...batch.data, payee, isHeldByRestore, offset }
  const load = () => operate('settlement', 'report', { batch: id, format: 'csv' })
  return (
    <Screen
      back={['settlement', 'batches']}
      actions={
        paid && (
          <>
            {paid.sealed_at && <CsvButton name={`${id}.csv`} load={load} />}
            <PayoutActions {...paid} />
          </>
        )
      }
    >
      <Data of={{ ...batch, data: paid }}>
        {(shown) => (
          <>
            <div class="columns">
              <Panel title="Batch">
                <View of={shown} rows={summary} />
              </Panel>
              <Panel title="Payout">
                <View of={shown} rows={payout} />
              </Panel>
            </div>
            <Lines {...shown} />
          </>
        )}
      </Data>
    </Screen>
  )
}

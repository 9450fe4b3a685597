import type { BatchResult } from '../../../shared/views/batch.ts'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import type { DebitSummary } from '../../../shared/views/operator/debit.ts'
import { isSandbox, mayUse, operate } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { chosen } from '../parts/filters.tsx'
import { Payment } from '../parts/money.tsx'
import { Empty, Failure } from '../parts/screen.tsx'
import { type Column, ListScreen } from '../parts/table.tsx'
import { Countdown, Link, Status, Time } from '../parts/values.tsx'
import { useLoaded, useOperator } from '../use-operator.ts'

const statuses: Record<ApprovalResult['status'], true> = {
  pending: true,
  granted: true,
  denied: true,
  expired: true,
}

type ApprovalProps = { approval: ApprovalResult }

const screens: Record<string, string> = { debit: 'debit', exception: 'debit', settlement: 'batch' }

/** The objects of a call about many: counts, sum and digest, which the second operator compares. */
const scopeOf = ({ scope }: ApprovalResult) => {
  const { bulk: _, ...shown } = scope ?? {}
  return shown
}

const Call = ({ approval }: ApprovalProps) => {
  const { noun, verb, target, options, scope } = approval
  const { bulk: _, ...texts } = options
  const screen = scope ? undefined : screens[noun]
  return (
    <>
      <p>
        {noun} {verb} {screen ? <Link to={screen} id={target} mayWrap /> : target}
      </p>
      {Object.entries({ ...texts, ...scopeOf(approval) })
        .filter(([, value]) => value !== target)
        .map(([name, value]) => (
          <small key={name} class="block break">
            {name}: {value}
          </small>
        ))}
    </>
  )
}

/** The amount and the parties of the requested call. */
const Terms = ({ approval: { noun, verb, target } }: ApprovalProps) => {
  const isBatch = noun === 'settlement'
  const load = isBatch
    ? () => operate('settlement', 'show', { batch: target })
    : () => operate('debit', 'show', { reference: target })
  const terms = useLoaded<BatchResult | DebitSummary>(load, [noun, target])
  const { data, error } = terms
  if (error) return <Failure error={error} retry={terms.reload} />
  if (!data) return <p role="status">Loading…</p>
  if ('net' in data) return <Payment amount={data.net ?? 'unknown'} to={data.provider} />
  const { amount, provider, bank, phone_number } = data
  const customer = `customer ${phone_number} at ${bank}`
  const isRefund = verb === 'reverse' || verb === 'refund'
  return isRefund ? (
    <Payment amount={amount} from={provider} to={customer} />
  ) : (
    <Payment amount={amount} from={customer} to={provider} />
  )
}

const hasTerms = ({ noun, scope }: ApprovalResult): boolean =>
  !scope &&
  ((noun === 'settlement' && mayUse('settlement')) ||
    ((noun === 'debit' || noun === 'exception') && mayUse('debit')))

const Decision = ({ approval }: ApprovalProps) => {
  const { id, status, noun, verb, target, requested_by } = approval
  if (status !== 'pending') return null
  return (
    <div class="row">
      <OperatorAction
        label="Grant"
        isSmall
        call={['approval', 'grant', { id }]}
        about={`Runs “${noun} ${verb} ${target}”, which ${requested_by} requested.`}
        confirmation={
          hasTerms(approval) ? <Terms approval={approval} /> : <Call approval={approval} />
        }
        movesMoney
        done="The call was made."
      />
      <OperatorAction
        label="Deny"
        isSmall
        kind="danger"
        call={['approval', 'deny', { id }]}
        about={`“${noun} ${verb} ${target}” will not run.`}
        fields={[{ name: 'reason', label: 'Reason', isOptional: true }]}
        done="The request is denied."
      />
    </div>
  )
}

const State = ({ approval }: ApprovalProps) => {
  const { status, expires_at, decided_by, decided_at, reason, refusal } = approval
  return (
    <>
      <Status value={status} />
      {status === 'pending' && (
        <small class="block">
          expires <Countdown at={expires_at} />
        </small>
      )}
      {decided_by && (
        <small class="block">
          by <span class="mono">{decided_by}</span>, <Time at={decided_at} />
        </small>
      )}
      {reason && <small class="block">{reason}</small>}
      {refusal && <small class="block bad">Refused: {refusal}</small>}
    </>
  )
}

const columns: Column<ApprovalResult>[] = [
  { title: 'Requested', cell: ({ requested_at }) => <Time at={requested_at} /> },
  { title: 'Call', cell: (approval) => <Call approval={approval} />, isWide: true },
  { title: 'Requested by', cell: ({ requested_by }) => <span class="mono">{requested_by}</span> },
  { title: 'Status', cell: (approval) => <State approval={approval} /> },
  { title: '', cell: (approval) => <Decision approval={approval} /> },
]

const noMatch = <Empty title="No request matches this filter">Clear the filter to see more.</Empty>

/** Calls that a second operator must approve. */
export const ApprovalsScreen = () => {
  const options = { ...chosen('status'), limit: '100' }
  return (
    <ListScreen
      title="Approvals"
      about={
        isSandbox()
          ? 'A second operator grants or denies a call. Enter another name under “Act as operator”.'
          : 'A second operator grants or denies a call.'
      }
      filters={[{ name: 'status', label: 'Status', options: Object.keys(statuses) }]}
      label="Requests"
      of={useOperator('approval', 'list', options, { entities: ['approval'] })}
      columns={columns}
      keyOf={({ id }) => id}
      noMatch={noMatch}
    >
      <Empty title="No requests">
        {isSandbox()
          ? 'With “npm run sandbox -- --approvals”, a second operator approves calls that can redirect money.'
          : 'A call that needs a second operator appears here.'}
      </Empty>
    </ListScreen>
  )
}

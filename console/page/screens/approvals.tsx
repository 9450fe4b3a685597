import type { NounName } from '../../../shared/operator/results.ts'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import { isSandbox, mayUse, operate, submit } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { listScreen } from '../parts/list.tsx'
import { DebitPayment, Payment } from '../parts/money.tsx'
import { Data, Facts } from '../parts/screen.tsx'
import { By, Countdown, Link, Noted, Status, Time } from '../parts/values.tsx'
import { settingOf } from '../settings-of.ts'
import { useLoaded } from '../use-operator.ts'

type ApprovalProps = { approval: ApprovalResult }

const screens: Record<string, string> = { debit: 'debit', exception: 'debit', settlement: 'batch' }

/** The call with its options; one about many has counts, sum and digest, which the operators compare. */
const CallText = ({ approval: { noun, verb, target, options, scope } }: ApprovalProps) => {
  const { bulk: _, ...texts } = { ...options, ...scope }
  const screen = scope ? undefined : screens[noun]
  return (
    <Noted
      of={
        <p>
          {noun} {verb} {screen ? <Link to={screen} id={target} mayWrap /> : target}
        </p>
      }
    >
      {Object.entries(texts)
        .filter(([, value]) => value !== target)
        .map(([name, value]) => `${name}: ${value}`)}
    </Noted>
  )
}

const BatchTerms = ({ id }: { id: string }) => {
  const batch = useLoaded((signal) => operate('settlement', 'show', { batch: id }, signal), [id])
  return (
    <Data of={batch}>
      {({ net, provider }) => <Payment amount={net ?? 'unknown'} to={provider} />}
    </Data>
  )
}

const refunds = ['reverse', 'refund']

/** The nouns with settings, and the option that names their object. */
const settingNouns: Partial<Record<NounName, 'provider' | 'bank'>> = {
  ...{ provider: 'provider', limit: 'provider', webhook: 'provider' },
  ...{ bank: 'bank', connector: 'bank' },
}

type SettingsProps = ApprovalProps & { noun: NounName; option: string }

/** The present and the requested settings. */
const Settings = ({ noun, option, approval: { verb, target, options } }: SettingsProps) => {
  const load = () => submit<object>(noun, 'show', { [option]: target })
  const { data, error } = useLoaded(load, [noun, target])
  const isNew = verb === 'create' || error !== undefined
  if (!isNew && !data) return <p role="status">Loading…</p>
  const changes = Object.entries(options).filter(([, value]) => value !== target)
  const before = (name: string): string => settingOf(data, name) ?? (isNew ? 'new' : 'not shown')
  const shown = changes.map(([name, value]) => [
    name.replaceAll('-', ' '),
    `${before(name)} → ${value}`,
  ])
  return <Facts of={Object.fromEntries(shown)} />
}

/** The amount and the parties of the requested call, or the settings before and after it. */
const Terms = ({ approval }: ApprovalProps) => {
  const { noun, verb, target, scope } = approval
  if (!scope && noun === 'settlement' && mayUse(noun)) return <BatchTerms id={target} />
  if (!scope && (noun === 'debit' || noun === 'exception') && mayUse('debit')) {
    return <DebitPayment reference={target} isRefund={refunds.includes(verb)} />
  }
  const own = noun as NounName
  const option = mayUse(own) && settingNouns[own]
  if (option) return <Settings noun={own} option={option} approval={approval} />
  return <CallText approval={approval} />
}

const Decision = ({ approval }: ApprovalProps) => {
  const { id, status, noun, verb, target, requested_by } = approval
  if (status !== 'pending') return null
  return (
    <div class="row">
      <Call
        isSmall
        of={['approval', 'grant', { id }]}
        about={`Runs “${noun} ${verb} ${target}”, which ${requested_by} requested.`}
        confirmation={() => <Terms approval={approval} />}
        movesMoney
      />
      <Call
        isSmall
        kind="danger"
        of={['approval', 'deny', { id }]}
        about={`“${noun} ${verb} ${target}” will not run.`}
        done="The request is denied."
      />
    </div>
  )
}

const State = ({ approval }: ApprovalProps) => {
  const { status, expires_at, decided_by, decided_at, reason, refusal } = approval
  return (
    <Noted of={<Status value={status} />}>
      {status === 'pending' && <Countdown at={expires_at} label="expires" />}
      {decided_by && <By name={decided_by} />}
      {decided_at && <Time at={decided_at} />}
      {reason}
      {refusal && <span class="bad">Refused: {refusal}</span>}
    </Noted>
  )
}

/** Calls that a second operator must approve. */
export const ApprovalsScreen = listScreen({
  title: 'Approvals',
  about: () =>
    `A second operator grants or denies a call.${
      isSandbox() ? ' Enter another name under “Act as operator”.' : ''
    }`,
  label: 'Requests',
  noun: 'approval',
  row: 'request',
  entities: ['approval'],
  columns: {
    Requested: 'requested_at',
    Call: { wide: (approval) => <CallText approval={approval} /> },
    'Requested by': 'requested_by',
    Status: (approval) => <State approval={approval} />,
    '': (approval) => <Decision approval={approval} />,
  },
  keyOf: ({ id }) => id,
  empty: [
    'No requests',
    'A call that needs a second operator appears here; a sandbox asks with “npm run sandbox -- --approvals”.',
  ],
})

import type { NounName } from '../../../shared/operator/results.ts'
import type { ApprovalResult } from '../../../shared/views/operator/approval.ts'
import type { ChangeResult } from '../../../shared/views/operator/change.ts'
import { withSeparators } from '../amounts.ts'
import { formOf, labelOf } from '../catalogue-fields.ts'
import { actingAs, isRefusal, isSandbox, mayUse, settings, submit } from '../client.ts'
import { moneyOf } from '../money.ts'
import { Call } from '../parts/call.tsx'
import { listScreen } from '../parts/list.tsx'
import { MoneyTerms } from '../parts/money-terms.tsx'
import { Data, Facts } from '../parts/screen.tsx'
import { By, Countdown, Noted, objectName, Status, Time, words } from '../parts/values.tsx'
import { settingOf } from '../settings-of.ts'
import { useLoaded } from '../use-operator.ts'
import { readBank } from './owners.tsx'

/** Returns the options without the one that names the object: the first of the form that is set. */
const changesOf = ({ noun, verb, options }: ApprovalResult) => {
  const object = formOf(noun, verb)?.fields.find(({ name }) => name in options)?.name
  return Object.entries(options).filter(([name]) => name !== object)
}

const AMOUNTS = /^(?:amount|sum)$/

/** The call with its options and object; one about many has counts, sum and digest, which the operators compare. */
const CallText = (approval: ApprovalResult) => {
  const { noun, verb, target, object, scope } = approval
  const { bulk: _, ...texts } = { ...Object.fromEntries(changesOf(approval)), ...object, ...scope }
  const call = (
    <p>
      {noun} {verb} {scope ? target : objectName(target)}
    </p>
  )
  return (
    <Noted of={call}>
      {Object.entries(texts)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name}: ${AMOUNTS.test(name) ? withSeparators(value) : value}`)}
    </Noted>
  )
}

/** The requested options that neither the name of the call nor its amount shows. */
const Others = (approval: ApprovalResult) => {
  const others = changesOf(approval).filter(([name]) => name !== 'amount')
  return <Facts of={Object.fromEntries(others.map(([name, value]) => [labelOf(name), value]))} />
}

/** The nouns with settings, and the option that names their object. */
const settingNouns: Partial<Record<NounName, 'provider' | 'bank'>> = {
  ...{ provider: 'provider', limit: 'provider', webhook: 'provider' },
  ...{ bank: 'bank', connector: 'bank' },
}

/** The present and the requested settings; `option` names the object. */
const Settings = ({ option, ...approval }: ApprovalResult & { option: string }) => {
  const { noun, verb, target } = approval
  const load = () =>
    noun === 'bank' ? readBank(target) : submit<object>(noun, 'show', { [option]: target })
  const present = useLoaded([noun, target], verb === 'create' ? undefined : load)
  // The service refuses an unknown object; another error says nothing about it.
  const isNew = verb === 'create' || isRefusal(present.error)
  return (
    <Data of={isNew ? { ...present, data: {}, error: undefined } : present}>
      {(view) => {
        const shown = changesOf(approval).map(([name, to]) => {
          const before = settingOf(view, name) ?? (isNew ? 'new' : 'not shown')
          return [name.replaceAll('-', ' '), `${before} → ${to}`]
        })
        return <Facts of={Object.fromEntries(shown)} />
      }}
    </Data>
  )
}

/** The effect of the requested call on money, or the settings before and after it. */
const Terms = (approval: ApprovalResult) => {
  const { noun, verb, options, object, scope } = approval
  const reads: NounName = noun === 'settlement' ? noun : 'debit'
  if (!scope && moneyOf(noun, verb, options) && mayUse(reads)) {
    const amount = object?.amount
    return (
      <>
        <MoneyTerms {...{ noun, verb, options: { ...options, ...(amount && { amount }) } }} />
        <Others {...approval} />
      </>
    )
  }
  const option = mayUse(noun as NounName) && settingNouns[noun as NounName]
  return option ? <Settings option={option} {...approval} /> : <CallText {...approval} />
}

const ownName = () => (actingAs.value ? `local:${actingAs.value}` : settings.value?.operator)

const Decision = (approval: ApprovalResult) => {
  const { id, status, noun, verb, target, requested_by } = approval
  if (status !== 'pending') return null
  return (
    <div class="row">
      {requested_by !== ownName() && (
        <Call
          of={['approval', 'grant', { id }]}
          about={`Runs “${noun} ${verb} ${target}”, which ${requested_by} requested.`}
          confirmation={() => <Terms {...approval} />}
          movesMoney
        />
      )}
      <Call of={['approval', 'deny', { id }]} about={`“${noun} ${verb} ${target}” will not run.`} />
    </div>
  )
}

export const ApprovalsScreen = listScreen({
  about: () =>
    `A second operator grants or denies a call; its requester can only deny it.${
      isSandbox() ? ' Enter another name under “Act as operator”.' : ''
    }`,
  label: 'Requests',
  noun: 'approval',
  row: 'request',
  entities: ['approval'],
  columns: {
    Requested: 'requested_at',
    Call: { wide: CallText },
    'Requested by': 'requested_by',
    Status: ({ status, expires_at, decided_by, decided_at, reason, refusal }) => (
      <Noted of={<Status value={status} />}>
        {status === 'pending' && <Countdown at={expires_at} label="expires" />}
        {decided_by && <By name={decided_by} />}
        {decided_at && <Time at={decided_at} />}
        {reason}
        {refusal && <span class="bad">Refused: {refusal}</span>}
      </Noted>
    ),
    '': Decision,
  },
  empty: [
    'No requests',
    'A call that needs a second operator appears here; a sandbox asks with “npm run sandbox -- --approvals”.',
  ],
})

const textOf = (value: unknown): string => {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const FIELDS_MAX = 4

const Changed = ({ changed }: ChangeResult) => {
  const entries = Object.entries(changed)
  const fields = (
    <ul>
      {entries.map(([name, { from, to }]) => (
        <li key={name}>
          <span class="muted">{words(name)}:</span> {from !== null && `${textOf(from)} → `}
          {textOf(to)}
        </li>
      ))}
    </ul>
  )
  if (entries.length <= FIELDS_MAX) return fields
  return (
    <details>
      <summary>{entries.length} fields</summary>
      {fields}
    </details>
  )
}

export const ChangesScreen = listScreen({
  about: () => 'Each change by an operator, newest first. Secrets show as set or changed.',
  label: 'Changes',
  noun: 'change',
  entities: ['change'],
  columns: {
    Time: 'at',
    Operator: ({ by, approved_by }) => (
      <Noted of={<By label="" name={by} />}>
        {approved_by && <By label="approved by " name={approved_by} />}
      </Noted>
    ),
    Call: ({ noun, verb }) => `${noun} ${verb}`,
    Object: ({ target }) => <span class="note">{objectName(target)}</span>,
    Changes: { wide: Changed },
  },
  empty: [
    'No changes by operators yet',
    'A call of the operator command or of this console appears here.',
  ],
})

import type { BankResult } from '../../../shared/views/operator/bank.ts'
import { OperatorAction } from '../parts/action.tsx'
import { failures } from '../parts/debit-actions.tsx'
import { Empty } from '../parts/screen.tsx'
import { type Column, ListScreen } from '../parts/table.tsx'
import { Countdown, Status, Time } from '../parts/values.tsx'
import { useOperator } from '../use-operator.ts'

type BankProps = { bank: BankResult; onDone: () => void }

const statuses = Object.entries({
  live: 'live',
  inactive: 'inactive: no new charges',
  suspended: 'suspended: no API access either',
} satisfies Record<BankResult['status'], string>)

const whenDown = Object.entries({
  accept: 'accepted; the debits wait',
  refuse: 'refused with 503',
} satisfies Record<BankResult['when_down'], string>)

const Change = ({ bank, onDone }: BankProps) => (
  <OperatorAction
    label="Change"
    isSmall
    call={['bank', 'update', { bank: bank.identifier }]}
    about={`Changes ${bank.name}. Debits in progress continue.`}
    fields={[
      { name: 'name', label: 'Name', value: bank.name },
      { name: 'status', label: 'Status', options: statuses, value: bank.status },
      {
        name: 'maximum',
        label: 'Maximum of one debit in GHS, or none',
        value: bank.maximum ?? 'none',
      },
      {
        name: 'when-down',
        label: 'Charges while the bank is down',
        options: whenDown,
        value: bank.when_down,
      },
    ]}
    done={`${bank.identifier} is changed.`}
    onDone={onDone}
  />
)

const behaviours = Object.entries({
  down: 'refuses connections',
  slow: 'replies late',
  silent: 'accepts and never reports',
  rejecting: 'rejects each debit',
} satisfies Record<NonNullable<BankResult['behaviour']>['as'], string>)

const codes = Object.keys(failures).map((code) => [code, code.replaceAll('_', ' ')] as const)

const durations = [
  ['', 'until it is normal again'],
  ['1m', '1 minute'],
  ['5m', '5 minutes'],
  ['1h', '1 hour'],
] as const

const code = {
  name: 'code',
  label: 'Failure code',
  options: codes,
  value: 'transaction_declined',
} as const
const duration = { name: 'for', label: 'Duration', options: durations, isOptional: true } as const

/** Changes how the bank of a sandbox behaves. */
const Behave = ({ bank, onDone }: BankProps) => {
  if (bank.connector !== 'sandbox') return null
  const options = { bank: bank.identifier }
  return (
    <>
      {behaviours.map(([as, text]) => (
        <OperatorAction
          key={as}
          label={`${as[0]?.toUpperCase()}${as.slice(1)}`}
          isSmall
          call={['bank', 'behave', { ...options, as }]}
          about={`${bank.name} is ${as}: ${text}.`}
          fields={as === 'rejecting' ? [code, duration] : [duration]}
          done={`${bank.identifier} is ${as}.`}
          onDone={onDone}
        />
      ))}
      {bank.behaviour && (
        <OperatorAction
          label="Normal"
          isSmall
          kind="primary"
          call={['bank', 'behave', { ...options, as: 'normal' }]}
          about={`${bank.name} behaves normally again.`}
          done={`${bank.identifier} is normal.`}
          onDone={onDone}
        />
      )}
    </>
  )
}

const Behaviour = ({ bank: { connector, behaviour } }: { bank: BankResult }) => {
  if (connector !== 'sandbox') return null
  if (!behaviour) return <Status value="normal" />
  const { as, code, until } = behaviour
  return (
    <>
      <span class="status bad">{as}</span>
      {code && <small class="block">{code.replaceAll('_', ' ')}</small>}
      {until && (
        <small class="block">
          ends <Countdown at={until} />
        </small>
      )}
    </>
  )
}

const Health = ({ health: { state, since } }: Pick<BankResult, 'health'>) => (
  <>
    <span class={`status ${state === 'up' ? 'good' : 'bad'}`}>{state}</span>
    {since && (
      <small class="block">
        since <Time at={since} />
      </small>
    )}
  </>
)

const columnsWith = (onDone: () => void): Column<BankResult>[] => [
  {
    title: 'Bank',
    cell: ({ identifier, name }) => (
      <>
        <strong>{identifier}</strong>
        <small class="block">{name}</small>
      </>
    ),
  },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { title: 'Health', cell: ({ health }) => <Health health={health} /> },
  { title: 'Connector', cell: ({ connector }) => connector },
  { title: 'Maximum', cell: ({ maximum }) => maximum, isNumber: true },
  { title: 'Behaviour', cell: (bank) => <Behaviour bank={bank} /> },
  {
    title: '',
    cell: (bank) => (
      <div class="row">
        <Behave bank={bank} onDone={onDone} />
        <Change bank={bank} onDone={onDone} />
      </div>
    ),
  },
]

/** The banks, and the behaviour of those of a sandbox. */
export const BanksScreen = () => {
  const banks = useOperator('bank', 'list', {}, { entities: ['bank', 'bank-health'] })
  return (
    <ListScreen
      title="Banks"
      about="A bank with the connector “sandbox” fails on demand. Functions of a stage know a change within 30 seconds."
      of={banks}
      columns={columnsWith(banks.reload)}
      keyOf={({ identifier }) => identifier}
    >
      <Empty title="No banks yet">
        Create one with <code>operator bank create</code>.
      </Empty>
    </ListScreen>
  )
}

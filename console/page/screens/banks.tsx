import type { BankResult } from '../../../shared/views/operator/bank.ts'
import { OperatorAction } from '../parts/action.tsx'
import { Empty } from '../parts/screen.tsx'
import { type Column, ListScreen } from '../parts/table.tsx'
import { Countdown, Link, Status, Time } from '../parts/values.tsx'
import { useOperator } from '../use-operator.ts'

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
        <Link to="bank" id={identifier} />
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
    cell: ({ identifier, connector }) =>
      connector === 'sandbox' && (
        <OperatorAction
          label="Simulate"
          isSmall
          call={['bank', 'behave', { bank: identifier }]}
          done={`${identifier} behaves so.`}
          onDone={onDone}
        />
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
      actions={
        <OperatorAction
          label="New bank"
          kind="primary"
          call={['bank', 'create']}
          done="The bank is created."
          onDone={banks.reload}
        />
      }
      of={banks}
      columns={columnsWith(banks.reload)}
      keyOf={({ identifier }) => identifier}
    >
      <Empty title="No banks yet">“New bank” creates one.</Empty>
    </ListScreen>
  )
}

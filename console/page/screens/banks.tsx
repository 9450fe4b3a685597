import type { BankResult } from '../../../shared/views/operator/bank.ts'
import { newAction, OperatorAction } from '../parts/action.tsx'
import { listScreen } from '../parts/list.tsx'
import type { Column } from '../parts/table.tsx'
import { Countdown, Link, Status, Time } from '../parts/values.tsx'

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

const columns: Column<BankResult>[] = [
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
    cell: ({ identifier, connector }, reload) =>
      connector === 'sandbox' && (
        <OperatorAction
          label="Simulate"
          isSmall
          call={['bank', 'behave', { bank: identifier }]}
          done={`${identifier} behaves so.`}
          onDone={reload}
        />
      ),
  },
]

/** The banks, and the behaviour of those of a sandbox. */
export const BanksScreen = listScreen({
  title: 'Banks',
  about: () =>
    'A bank with the connector “sandbox” fails on demand. Functions of a stage know a change within 30 seconds.',
  noun: 'bank',
  entities: ['bank', 'bank-health'],
  actions: newAction('bank'),
  columns,
  keyOf: ({ identifier }) => identifier,
  empty: ['No banks yet', '“New bank” creates one.'],
})

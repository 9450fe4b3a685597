import type { BankResult } from '../../../shared/views/operator/bank.ts'
import { Call } from '../parts/call.tsx'
import { listScreen } from '../parts/list.tsx'
import { named, type ViewColumns } from '../parts/members.tsx'
import { Countdown, Link, Mark, Status, Time, Two, Verdict, words } from '../parts/values.tsx'

const Behaviour = ({ bank: { connector, behaviour } }: { bank: BankResult }) => {
  if (connector !== 'sandbox') return null
  if (!behaviour) return <Status value="normal" />
  const { as, code, until } = behaviour
  return (
    <>
      <Two of={<Mark tone="bad">{as}</Mark>} below={code && words(code)} />
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
    <Verdict isGood={state === 'up'}>{state}</Verdict>
    {since && (
      <small class="block">
        since <Time at={since} />
      </small>
    )}
  </>
)

const columns: ViewColumns<BankResult> = {
  Bank: ({ identifier, name }) => <Two of={<Link to="bank" id={identifier} />} below={name} />,
  Status: 'status',
  Health: ({ health }) => <Health health={health} />,
  ...named('connector', 'maximum'),
  Behaviour: (bank) => <Behaviour bank={bank} />,
  '': ({ identifier, connector }) =>
    connector === 'sandbox' && (
      <Call
        label="Simulate"
        isSmall
        of={['bank', 'behave', { bank: identifier }]}
        done={`${identifier} behaves so.`}
      />
    ),
}

/** The banks, and the behaviour of those of a sandbox. */
export const BanksScreen = listScreen({
  title: 'Banks',
  about: () =>
    'A bank with the connector “sandbox” fails on demand. Functions of a stage know a change within 30 seconds.',
  noun: 'bank',
  entities: ['bank', 'bank-health'],
  actions: () => (
    <Call label="New bank" kind="primary" of={['bank', 'create']} done="The bank is created." />
  ),
  columns,
  keyOf: ({ identifier }) => identifier,
  empty: ['No banks yet', '“New bank” creates one.'],
})

import type { AccountResult } from '../../../shared/views/operator/customer.ts'
import type { ConsoleSeeds } from '../../server/backend.ts'
import { settings } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, List, Table } from '../parts/table.tsx'
import { Status } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { phoneIn } from '../search.ts'
import { useOperator } from '../use-operator.ts'

const columnsWith = (onDone: () => void): Column<AccountResult>[] => [
  { title: 'Bank', cell: ({ bank }) => bank },
  { title: 'Customer', cell: ({ customer }) => customer },
  { title: 'Account', cell: ({ account_number }) => account_number },
  { title: 'Type', cell: ({ account_type }) => account_type.replaceAll('_', ' ') },
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    title: '',
    cell: ({ phone_number, bank, customer }) => (
      <OperatorAction
        label="Remove"
        isSmall
        kind="danger"
        call={['customer', 'unlink', { phone: phone_number, bank }]}
        about={`New debits of ${phone_number} at ${bank} are refused.`}
        confirmation={() => <p>{customer} loses this account.</p>}
        done="The account is removed."
        onDone={onDone}
      />
    ),
  },
]

const seedColumns: Column<ConsoleSeeds['customers'][number]>[] = [
  {
    title: 'Phone number',
    cell: ({ phone }) => <a href={linkTo('customers', '', { phone })}>{phone}</a>,
  },
  { title: 'Customer', cell: ({ name }) => name },
  { title: 'Outcome of a debit', cell: ({ outcome }) => outcome, isWide: true },
]

type LinkAccountProps = { phone: string; onDone: (linked: AccountResult) => void }

const LinkAccount = ({ phone, onDone }: LinkAccountProps) => (
  <OperatorAction
    label="Link an account"
    kind="primary"
    call={['customer', 'link']}
    about="Sets the account of a phone number at a bank, and replaces an earlier one."
    values={{ phone }}
    done={({ customer, bank }) => `The account of ${customer} at ${bank} is set.`}
    onDone={onDone}
  />
)

const Accounts = ({ phone }: { phone: string }) => {
  const watch = { entities: ['account'] }
  const accounts = useOperator('customer', 'list', { phone }, watch)
  return (
    <Panel
      title={`Accounts of ${phone}`}
      actions={<a href={linkTo('debits', '', { phone })}>Debits of {phone}</a>}
    >
      <List
        label="Accounts"
        of={accounts}
        columns={columnsWith(accounts.reload)}
        keyOf={({ bank }) => bank}
      >
        <Empty title="No account has this number">
          A charge is refused until an account is linked.
        </Empty>
      </List>
    </Panel>
  )
}

/** The bank accounts of a phone number. */
export const CustomersScreen = () => {
  const { phone = '' } = place.value.filters
  const seeds = settings.value?.seeds
  return (
    <Screen
      title="Customers"
      about="Bank accounts by phone number. A charge names the number and the bank."
      actions={
        <LinkAccount
          phone={phone}
          onDone={({ phone_number }) => setFilters({ phone: phone_number })}
        />
      }
    >
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault()
          const entered = new FormData(event.currentTarget).get('phone')
          setFilters({ phone: phoneIn(String(entered)) ?? String(entered).trim() })
        }}
      >
        <label>
          Phone number
          <input
            type="search"
            name="phone"
            key={phone}
            defaultValue={phone}
            placeholder="+233241234567"
            required
          />
        </label>
        <button type="submit">Show accounts</button>
      </form>
      {phone ? (
        <Accounts key={phone} phone={phone} />
      ) : (
        <Panel>
          <Empty title="Enter a phone number">
            The service lists the accounts of one number at a time.
          </Empty>
        </Panel>
      )}
      {seeds && (
        <Panel title="Customers of a new sandbox">
          <Table
            label="Customers of a new sandbox"
            columns={seedColumns}
            rows={seeds.customers}
            keyOf={({ phone }) => phone}
          />
        </Panel>
      )}
    </Screen>
  )
}

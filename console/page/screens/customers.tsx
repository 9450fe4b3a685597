import { settings } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { Empty, Panel, Screen } from '../parts/screen.tsx'
import { named, TablePanel } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { phoneIn } from '../search.ts'
import { useOperator } from '../use-operator.ts'

const Accounts = ({ phone }: { phone: string }) => (
  <TablePanel
    title={`Accounts of ${phone}`}
    actions={<a href={linkTo('debits', '', { phone })}>Debits of {phone}</a>}
    label="Accounts"
    of={useOperator('customer', 'list', { phone }, { entities: ['account'] })}
    columns={{
      ...named('bank', 'customer'),
      Account: 'account_number',
      Type: 'account_type',
      Status: 'status',
      '': ({ phone_number, bank, customer }) => (
        <Call
          label="Remove"
          isSmall
          kind="danger"
          of={['customer', 'unlink', { phone: phone_number, bank }]}
          about={`${customer} loses this account. New debits of ${phone_number} at ${bank} are refused.`}
          done="The account is removed."
        />
      ),
    }}
    keyOf={({ bank }) => bank}
    empty={['No account has this number', 'A charge is refused until an account is linked.']}
  />
)

const PhoneForm = ({ phone }: { phone: string }) => (
  <form
    class="filters"
    onSubmit={(event) => {
      event.preventDefault()
      const entered = String(new FormData(event.currentTarget).get('phone')).trim()
      setFilters({ phone: phoneIn(entered) ?? entered })
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
)

/** The bank accounts of a phone number. */
export const CustomersScreen = () => {
  const { phone = '' } = place.value.filters
  const { customers } = settings.value?.seeds ?? {}
  return (
    <Screen
      title="Customers"
      about="Bank accounts by phone number. A charge names the number and the bank."
      actions={
        <Call
          label="Link an account"
          kind="primary"
          of={['customer', 'link']}
          values={{ phone }}
          done={({ customer, bank }) => `The account of ${customer} at ${bank} is set.`}
          onDone={({ phone_number }) => setFilters({ phone: phone_number })}
        />
      }
    >
      <PhoneForm phone={phone} />
      {phone ? (
        <Accounts key={phone} phone={phone} />
      ) : (
        <Panel>
          <Empty
            of={['Enter a phone number', 'The service lists the accounts of one number at a time.']}
          />
        </Panel>
      )}
      {customers && (
        <TablePanel
          title="Customers of a new sandbox"
          columns={{
            'Phone number': ({ phone }) => <a href={linkTo('customers', '', { phone })}>{phone}</a>,
            Customer: 'name',
            'Outcome of a debit': 'outcome',
          }}
          of={customers}
          keyOf={({ phone }) => phone}
        />
      )}
    </Screen>
  )
}

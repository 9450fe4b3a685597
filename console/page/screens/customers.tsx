import { LIMIT_MAX, mayUse, settings } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { Control, onSubmit } from '../parts/field.tsx'
import { Empty, Panel, Screen } from '../parts/screen.tsx'
import { named, TablePanel } from '../parts/table.tsx'
import { linkTo } from '../place.ts'
import { place, setFilters } from '../route.ts'
import { phoneIn } from '../search.ts'
import { useOperator } from '../use-operator.ts'

const Accounts = ({ phone }: { phone: string }) => (
  <TablePanel
    title={`Accounts of ${phone}`}
    actions={
      <>
        {mayUse('debit') && <a href={linkTo('debits', '', { phone })}>Debits of {phone}</a>}
        <Call of={['customer', 'export', { phone }]} />
        <Call of={['customer', 'accesses', { phone, limit: LIMIT_MAX }]} />
        <Call of={['customer', 'erase', { phone }]} />
      </>
    }
    label="Accounts"
    of={useOperator('customer', 'list', { phone }, { entities: ['account'] })}
    columns={{
      ...named('bank', 'customer', 'account_number as Account', 'account_type as Type', 'status'),
      '': ({ phone_number, bank, customer }) => (
        <Call
          of={['customer', 'unlink', { phone: phone_number, bank }]}
          about={`${customer} loses this account. New debits of ${phone_number} at ${bank} are refused.`}
        />
      ),
    }}
    empty={['No account has this number', 'A charge is refused until an account is linked.']}
  />
)

const showAccounts = onSubmit(({ phone = '' }) => setFilters({ phone: phoneIn(phone) ?? phone }))

export const CustomersScreen = () => {
  const { phone = '' } = place.value.filters
  const { customers } = settings.value?.seeds ?? {}
  return (
    <Screen
      about="Bank accounts by phone number. A charge names the number and the bank."
      actions={
        <Call
          of={['customer', 'link']}
          values={{ phone }}
          onDone={({ phone_number }) => setFilters({ phone: phone_number })}
        />
      }
    >
      <form class="filters" key={phone} onSubmit={showAccounts}>
        <Control
          label="Phone number"
          type="search"
          name="phone"
          required
          defaultValue={phone}
          placeholder="+233241234567"
        />
        <button type="submit">Show accounts</button>
      </form>
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
            ...named('name as Customer', 'outcome as Outcome of a debit'),
          }}
          of={customers}
        />
      )}
    </Screen>
  )
}

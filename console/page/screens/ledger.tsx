import type { EntryResult, JournalResult } from '../../../shared/views/operator/ledger.ts'
import { mayUse, operate } from '../client.ts'
import { accountName, balanceText } from '../ledger-texts.ts'
import { Call } from '../parts/call.tsx'
import { CsvButton } from '../parts/csv-button.tsx'
import { chosenDay, dayFilter } from '../parts/filters.tsx'
import { ListPanel } from '../parts/list.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { FirstRows, named, Table } from '../parts/table.tsx'
import { dayText, Link, Verdict } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

/** The code, for the command, appears below the pointer. */
const AccountName = ({ of: account = '' }: { of: string | undefined }) => (
  <span class="nowrap" title={account}>
    {accountName(account)}
  </span>
)

const screenOf: Record<string, string> = {
  debit: 'debit',
  refund: 'debit',
  exception: 'debit',
  batch: 'batch',
}

const Source = ({ source: { type, id, reference } }: { source: EntryResult['source'] }) => {
  const screen = screenOf[type]
  const name = reference ?? id
  return screen ? <Link to={screen} id={name} /> : name
}

const Balances = ({ accounts, trial_balance }: JournalResult) => (
  <div class="stack">
    <Table
      label="Balances"
      columns={{
        Account: { wide: ({ account }) => <AccountName of={account} /> },
        Opening: { number: ({ opening }) => balanceText(opening) },
        ...named('debit', 'credit'),
        Closing: { number: ({ closing }) => <strong>{balanceText(closing)}</strong> },
      }}
      rows={accounts}
      keyOf={({ account }) => account}
      empty={[
        'No account has a balance',
        'Completed debits, batches, refunds and remittances make entries.',
      ]}
    />
    <Verdict isGood={trial_balance === '0.00'}>
      {trial_balance === '0.00'
        ? 'Debits equal credits'
        : `Debits exceed credits by ${trial_balance}`}
    </Verdict>
  </div>
)

type JournalProps = { journal: JournalResult | { download: string }; date: string }

const Journal = ({ journal, date }: JournalProps) => {
  if ('download' in journal) {
    const file = <a href={journal.download}>Download it as JSON</a>
    return (
      <Panel>
        <Empty of={['The journal is too large for this page', file]} />
      </Panel>
    )
  }
  return (
    <>
      <Panel title={`Balances of ${dayText(date)}`}>
        <Balances {...journal} />
      </Panel>
      <Panel title="Journal">
        <FirstRows
          label="Journal"
          columns={{
            Time: 'time',
            Entry: ({ description }) => description,
            Source: ({ source }) => <Source source={source} />,
            Debit: ({ lines }) => <AccountName of={lines[0]?.account} />,
            Credit: ({ lines }) => <AccountName of={lines[1]?.account} />,
            Amount: { number: ({ lines }) => lines[0]?.debit },
          }}
          rows={journal.entries}
          keyOf={({ time, type, source }) => `${time} ${type} ${source.id}`}
          empty={['No entries on this day', 'Choose another day.']}
        />
      </Panel>
    </>
  )
}

/** The cash that banks have remitted. */
const Fundings = ({ date }: { date: string }) => (
  <ListPanel
    label="Remittances"
    noun="funding"
    row="remittance"
    entities={['funding']}
    actions={() => (
      <Call
        label="Record a remittance"
        of={['funding', 'record']}
        about="Records cash that a bank has sent to the service. A repeated reference changes nothing."
        values={{ date }}
        done={({ amount, bank }) => `${amount} GHS of ${bank} are recorded.`}
      />
    )}
    columns={{
      Day: 'date',
      Bank: 'bank',
      'Bank’s reference': ({ reference }) => reference,
      ...named('recorded_by', 'amount'),
    }}
    keyOf={({ bank, reference }) => `${bank} ${reference}`}
    empty={['No remittances yet', 'Record the cash that a bank sends for completed debits.']}
  />
)

/** The balances and the journal of a day. */
export const LedgerScreen = () => {
  const date = chosenDay()
  const journal = useLoaded((signal) => operate('ledger', 'show', { date }, signal), [date])
  return (
    <Screen
      title="Ledger"
      about="Double entries in GHS. Dr is a debit balance, Cr a credit balance."
      filters={[dayFilter()]}
      actions={
        <>
          <button type="button" onClick={journal.reload}>
            Read again
          </button>
          <CsvButton
            name={`ledger-${date}.csv`}
            load={() => operate('ledger', 'show', { date, format: 'csv' })}
          />
        </>
      }
    >
      <Data of={journal}>{(shown) => <Journal journal={shown} date={date} />}</Data>
      {mayUse('funding') && <Fundings date={date} />}
    </Screen>
  )
}

import type { FundingResult } from '../../../shared/views/operator/funding.ts'
import type {
  BalanceResult,
  EntryResult,
  JournalResult,
} from '../../../shared/views/operator/ledger.ts'
import { mayUse, operate } from '../client.ts'
import { accountName, balanceText } from '../ledger-texts.ts'
import { OperatorAction } from '../parts/action.tsx'
import { CsvButton } from '../parts/csv-button.tsx'
import { chosenDay, DayFilter } from '../parts/filters.tsx'
import { ListPanel } from '../parts/list.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { dayText, Link, Time } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

/** The code, for the command, appears below the pointer. */
const AccountName = ({ of: account = '' }: { of: string | undefined }) => (
  <span class="nowrap" title={account}>
    {accountName(account)}
  </span>
)

const accountColumns: Column<BalanceResult>[] = [
  { title: 'Account', cell: ({ account }) => <AccountName of={account} />, isWide: true },
  { title: 'Opening', cell: ({ opening }) => balanceText(opening), isNumber: true },
  { title: 'Debit', cell: ({ debit }) => debit, isNumber: true },
  { title: 'Credit', cell: ({ credit }) => credit, isNumber: true },
  {
    title: 'Closing',
    cell: ({ closing }) => <strong>{balanceText(closing)}</strong>,
    isNumber: true,
  },
]

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

const accountOf = ({ lines }: EntryResult, index: 0 | 1) => (
  <AccountName of={lines[index]?.account} />
)

const entryColumns: Column<EntryResult>[] = [
  { title: 'Time', cell: ({ time }) => <Time at={time} /> },
  { title: 'Entry', cell: ({ description }) => description },
  { title: 'Source', cell: ({ source }) => <Source source={source} /> },
  { title: 'Debit', cell: (entry) => accountOf(entry, 0) },
  { title: 'Credit', cell: (entry) => accountOf(entry, 1) },
  { title: 'Amount', cell: ({ lines }) => lines[0]?.debit, isNumber: true },
]

const ENTRIES_MAX = 500

type JournalProps = { journal: JournalResult | { download: string }; date: string }

const Journal = ({ journal, date }: JournalProps) => {
  if ('download' in journal) {
    return (
      <Panel>
        <Empty title="The journal is too large for this page">
          <a href={journal.download}>Download it as JSON</a>
        </Empty>
      </Panel>
    )
  }
  const { accounts, entries, trial_balance } = journal
  const isBalanced = trial_balance === '0.00'
  return (
    <>
      <Panel title={`Balances of ${dayText(date)}`}>
        {accounts.length === 0 ? (
          <Empty title="No account has a balance">
            Completed debits, batches, refunds and remittances make entries.
          </Empty>
        ) : (
          <div class="stack">
            <Table
              label="Balances"
              columns={accountColumns}
              rows={accounts}
              keyOf={({ account }) => account}
            />
            <p class={`status ${isBalanced ? 'good' : 'bad'}`}>
              {isBalanced ? 'Debits equal credits' : `Debits exceed credits by ${trial_balance}`}
            </p>
          </div>
        )}
      </Panel>
      <Panel title="Journal">
        <Table
          label="Journal"
          columns={entryColumns}
          rows={entries.slice(0, ENTRIES_MAX)}
          keyOf={({ time, type, source }) => `${time} ${type} ${source.id}`}
        >
          <Empty title="No entries on this day">Choose another day.</Empty>
        </Table>
        {entries.length > ENTRIES_MAX && (
          <p class="muted">
            The first {ENTRIES_MAX} of {entries.length} entries. The CSV file has all.
          </p>
        )}
      </Panel>
    </>
  )
}

const fundingColumns: Column<FundingResult>[] = [
  { title: 'Day', cell: ({ date }) => dayText(date) },
  { title: 'Bank', cell: ({ bank }) => bank },
  { title: 'Bank’s reference', cell: ({ reference }) => reference },
  { title: 'Recorded by', cell: ({ recorded_by }) => recorded_by },
  { title: 'Amount', cell: ({ amount }) => amount, isNumber: true },
]

/** The cash that banks have remitted. */
const Fundings = ({ date }: { date: string }) => (
  <ListPanel
    label="Remittances"
    noun="funding"
    row="remittance"
    entities={['funding']}
    actions={(reload) => (
      <OperatorAction
        label="Record a remittance"
        call={['funding', 'record']}
        about="Records cash that a bank has sent to the service. A repeated reference changes nothing."
        values={{ date }}
        movesMoney
        done={({ amount, bank }) => `${amount} GHS of ${bank} are recorded.`}
        onDone={reload}
      />
    )}
    columns={fundingColumns}
    keyOf={({ bank, reference }) => `${bank} ${reference}`}
    empty={['No remittances yet', 'Record the cash that a bank sends for completed debits.']}
  />
)

/** The balances and the journal of a day. */
export const LedgerScreen = () => {
  const date = chosenDay()
  const journal = useLoaded(() => operate('ledger', 'show', { date }), [date])
  return (
    <Screen
      title="Ledger"
      about="Double entries in GHS. Dr is a debit balance, Cr a credit balance."
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
      <DayFilter />
      <Data of={journal}>{(shown) => <Journal journal={shown} date={date} />}</Data>
      {mayUse('funding') && <Fundings date={date} />}
    </Screen>
  )
}

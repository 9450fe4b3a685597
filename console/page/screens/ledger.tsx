import type { JournalResult } from '../../../shared/views/operator/ledger.ts'
import { mayUse, operate } from '../client.ts'
import { accountName, balanceText } from '../ledger-texts.ts'
import { Button, CsvButton } from '../parts/button.tsx'
import { Call } from '../parts/call.tsx'
import { chosenDay } from '../parts/field.tsx'
import { ListPanel } from '../parts/list.tsx'
import { Data, Panel, Screen, TooLarge } from '../parts/screen.tsx'
import { FirstRows, named, Table } from '../parts/table.tsx'
import { dayText, objectName, Verdict } from '../parts/values.tsx'
import { useOperator } from '../use-operator.ts'

/** The code, for the command, appears below the pointer. */
const AccountName = ({ account = '' }: { account?: string | undefined }) => (
  <span class="nowrap" title={account}>
    {accountName(account)}
  </span>
)

type JournalProps = { journal: JournalResult | { download: string }; date: string }

const Journal = ({ journal, date }: JournalProps) => {
  if ('download' in journal) {
    const file = <TooLarge name="journal" href={journal.download} />
    return <Panel>{file}</Panel>
  }
  const { accounts, trial_balance, entries } = journal
  const isEqual = trial_balance === '0.00'
  return (
    <>
      <Panel title={`Balances of ${dayText(date)}`}>
        <Table
          label="Balances"
          columns={{
            Account: { wide: AccountName },
            Opening: { number: ({ opening }) => balanceText(opening) },
            ...named('debit', 'credit'),
            Closing: { number: ({ closing }) => <strong>{balanceText(closing)}</strong> },
          }}
          rows={accounts}
          empty={[
            'No account has a balance',
            'Completed debits, batches, refunds and remittances make entries.',
          ]}
        />
        <Verdict isGood={isEqual}>
          {isEqual ? 'Debits equal credits' : `Debits exceed credits by ${trial_balance}`}
        </Verdict>
      </Panel>
      <Panel title="Journal">
        <FirstRows
          label="Journal"
          columns={{
            Time: 'time',
            Entry: ({ description }) => description,
            Source: ({ source: { type, id, reference = id } }) =>
              type === 'funding' ? reference : objectName(reference),
            Debit: ({ lines }) => <AccountName account={lines[0]?.account} />,
            Credit: ({ lines }) => <AccountName account={lines[1]?.account} />,
            Amount: { number: ({ lines }) => lines[0]?.debit },
          }}
          rows={entries.map((entry, id) => ({ ...entry, id }))}
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
    actions={() => <Call of={['funding', 'record']} values={{ date }} />}
    columns={{
      ...named('date', 'bank'),
      'Bank’s reference': ({ reference }) => reference,
      ...named('recorded_by', 'amount'),
    }}
    empty={['No remittances yet', 'Record the cash that a bank sends for completed debits.']}
  />
)

export const LedgerScreen = () => {
  const [date, filters] = chosenDay()
  const journal = useOperator('ledger', 'show', { date })
  const load = () => operate('ledger', 'show', { date, format: 'csv' })
  return (
    <Screen
      about="Double entries in GHS. Dr is a debit balance, Cr a credit balance."
      filters={filters}
      actions={
        <>
          <Button onClick={journal.reload}>Read again</Button>
          <CsvButton name={`ledger-${date}.csv`} load={load} />
        </>
      }
    >
      <Data of={journal}>{(shown) => <Journal journal={shown} date={date} />}</Data>
      {mayUse('funding') && <Fundings date={date} />}
    </Screen>
  )
}

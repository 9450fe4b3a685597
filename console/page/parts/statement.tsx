import type { TargetedEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { StatementExample, StatementReport } from '../../../shared/domain/banks/statement.ts'
import type { LongResults } from '../../server/backend.ts'
import { isSandbox, operate } from '../client.ts'
import { useOperator } from '../use-operator.ts'
import { CsvButton } from './csv-button.tsx'
import { contentsOf } from './field.tsx'
import { Empty, Failure, Figures, Panel } from './screen.tsx'
import { type Column, Table } from './table.tsx'
import { dayText } from './values.tsx'

const groups = {
  matched: 'Matched',
  missing_here: 'Missing here',
  missing_at_bank: 'Missing at the bank',
  differs: 'Different',
} as const satisfies Record<keyof StatementReport, string>

/** Whose amounts a sum has. */
const sumOwner: Record<keyof StatementReport, string> = {
  matched: '',
  missing_here: 'by the bank',
  missing_at_bank: 'by the service',
  differs: 'by the bank',
}

const columns: Column<StatementExample>[] = [
  { title: 'Line', cell: ({ line }) => line, isNumber: true },
  { title: 'Debit', cell: ({ reference }) => reference },
  { title: 'UUID', cell: ({ uuid }) => uuid && <span class="mono">{uuid}</span> },
  { title: 'Bank’s reference', cell: ({ bank_reference }) => bank_reference },
  { title: 'Amount', cell: ({ amount }) => amount, isNumber: true },
  { title: 'Difference', cell: ({ reason }) => reason },
]

const names = Object.keys(groups) as (keyof typeof groups)[]

type Compared = { bank: string; date: string; result: LongResults['statement'] }

const Comparison = ({ bank, date, result }: Compared) => {
  const { missing_here, missing_at_bank, differs, ignored } = result
  const differences = missing_here.count + missing_at_bank.count + differs.count
  return (
    <div class="stack" role="status">
      <h3>
        {bank}, {dayText(date)}
      </h3>
      <p class={`status ${differences === 0 ? 'good' : 'bad'}`}>
        {differences === 0 ? 'The statement agrees' : `Differences: ${differences}`}
      </p>
      <Figures
        rows={names.map((name) => [
          groups[name],
          <>
            {result[name].count}{' '}
            <small>
              {result[name].sum} GHS {sumOwner[name]}
            </small>
          </>,
        ])}
      />
      {ignored > 0 && <p class="muted">Ignored rows of other days: {ignored}</p>}
      {names
        .filter((name) => name !== 'matched' && result[name].count > 0)
        .map((name) => (
          <section key={name}>
            <h3>{groups[name]}</h3>
            <Table
              label={groups[name]}
              columns={columns}
              rows={result[name].examples}
              keyOf={({ line, uuid }) => `${line} ${uuid}`}
            />
          </section>
        ))}
    </div>
  )
}

/** Writes the completed debits of a bank as its statement, to try the comparison. */
const exampleOf = async (bank: string, date: string): Promise<string> => {
  const debits = await operate('debit', 'list', { limit: '1000' })
  const rows = debits
    .filter((debit) => debit.bank === bank && debit.completed_at?.startsWith(date))
    .map(({ uuid, bank_reference, amount, currency, completed_at }) =>
      [uuid, bank_reference, amount, currency, completed_at].join(','),
    )
  return `${['uuid,bank_reference,amount,currency,completed_at', ...rows].join('\r\n')}\r\n`
}

/** Compares a bank's statement of a day with the debits of the service. */
export const Statement = ({ date }: { date: string }) => {
  const banks = useOperator('bank', 'list', {})
  const [chosen, setChosen] = useState('')
  const bank = chosen || (banks.data?.[0]?.identifier ?? '')
  const [isRunning, setRunning] = useState(false)
  const [compared, setCompared] = useState<Compared>()
  const [error, setError] = useState<Error>()
  const isShown = compared?.bank === bank && compared.date === date
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    setRunning(true)
    setError(undefined)
    setCompared(undefined)
    try {
      const { statement = '' } = await contentsOf(form)
      const options = { bank, date, statement }
      const result = await operate('reconciliation', 'statement', options)
      setCompared({ bank, date, result })
    } catch (thrown) {
      setError(thrown as Error)
    } finally {
      setRunning(false)
    }
  }
  return (
    <Panel
      title="Bank statement"
      actions={
        isSandbox() && (
          <CsvButton
            label="Download an example"
            name={`statement-${bank}-${date}.csv`}
            load={() => exampleOf(bank, date)}
          />
        )
      }
    >
      <div class="stack">
        <form class="filters" onSubmit={(event) => void submit(event)}>
          <label>
            Bank
            <select value={bank} onChange={(event) => setChosen(event.currentTarget.value)}>
              {banks.data?.map(({ identifier }) => (
                <option key={identifier}>{identifier}</option>
              ))}
            </select>
          </label>
          <label>
            CSV or camt.053
            <input type="file" name="statement" accept=".csv,.txt,.xml" required />
          </label>
          <button type="submit" disabled={isRunning}>
            {isRunning ? 'Comparing…' : 'Compare'}
          </button>
        </form>
        {error && <Failure error={error} />}
        {isShown && <Comparison {...compared} />}
        {!isShown && !error && (
          <Empty title="No statement yet">
            The columns are those of the bank&apos;s setting, or uuid or bank_reference, amount,
            currency and completed_at.
          </Empty>
        )}
      </div>
    </Panel>
  )
}

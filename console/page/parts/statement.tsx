import type { TargetedEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { StatementExample, StatementReport } from '../../../shared/domain/banks/statement.ts'
import type { LongResults } from '../../server/backend.ts'
import { isSandbox, operate } from '../client.ts'
import { useOperator } from '../use-operator.ts'
import { CsvButton } from './csv-button.tsx'
import { Empty, Failure, Figures, Panel } from './screen.tsx'
import { type Column, Table } from './table.tsx'

const groups = {
  matched: 'Matched',
  missing_here: 'Missing here',
  missing_at_bank: 'Missing at the bank',
  differs: 'Different',
} as const satisfies Record<keyof StatementReport, string>

const columns: Column<StatementExample>[] = [
  { title: 'Line', cell: ({ line }) => line, isNumber: true },
  { title: 'Debit', cell: ({ reference }) => reference },
  { title: 'UUID', cell: ({ uuid }) => uuid && <span class="mono">{uuid}</span> },
  { title: 'Bank’s reference', cell: ({ bank_reference }) => bank_reference },
  { title: 'Amount', cell: ({ amount }) => amount, isNumber: true },
  { title: 'Difference', cell: ({ reason }) => reason },
]

const names = Object.keys(groups) as (keyof typeof groups)[]

const Comparison = ({ result }: { result: LongResults['statement'] }) => {
  const { missing_here, missing_at_bank, differs, ignored } = result
  const differences = missing_here.count + missing_at_bank.count + differs.count
  return (
    <div class="stack" role="status">
      <p class={`status ${differences === 0 ? 'good' : 'bad'}`}>
        {differences === 0 ? 'The statement agrees' : `Differences: ${differences}`}
      </p>
      <Figures
        rows={names.map((name) => [
          groups[name],
          <>
            {result[name].count} <small>{result[name].sum} GHS</small>
          </>,
        ])}
      />
      {ignored > 0 && <p class="muted">{ignored} rows of other days are ignored.</p>}
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

/** Returns a character for each byte: the service knows the encoding of the bank's files. */
const bytesOf = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
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
  const [result, setResult] = useState<LongResults['statement']>()
  const [error, setError] = useState<Error>()
  const submit = async (event: TargetedEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const file = new FormData(event.currentTarget).get('file') as File
    setRunning(true)
    setError(undefined)
    setResult(undefined)
    try {
      const options = { bank, date, statement: await bytesOf(file) }
      setResult(await operate('reconciliation', 'statement', options))
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
            <input type="file" name="file" accept=".csv,.txt,.xml" required />
          </label>
          <button type="submit" disabled={isRunning}>
            {isRunning ? 'Comparing…' : 'Compare'}
          </button>
        </form>
        {error && <Failure error={error} />}
        {result && <Comparison result={result} />}
        {!result && !error && (
          <Empty title="No statement yet">
            The columns are those of the bank&apos;s setting, or uuid or bank_reference, amount,
            currency and completed_at.
          </Empty>
        )}
      </div>
    </Panel>
  )
}

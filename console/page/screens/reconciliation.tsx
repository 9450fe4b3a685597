import type { TargetedEvent } from 'preact'
import { useState } from 'preact/hooks'
import type { StatementReport } from '../../../shared/domain/banks/statement.ts'
import type { Finding } from '../../../shared/domain/operator/finding.ts'
import type { LongResults } from '../../../shared/operator/results.ts'
import type { ReconciliationResult } from '../../../shared/views/operator/reconciliation.ts'
import { sentence } from '../catalogue-fields.ts'
import { isSandbox, operate } from '../client.ts'
import { CsvButton } from '../parts/csv-button.tsx'
import { contentsOf } from '../parts/field.tsx'
import { chosenDay, dayFilter, Options, useObjects } from '../parts/filters.tsx'
import { Data, Empty, type EmptyText, Facts, Failure, Panel, Screen } from '../parts/screen.tsx'
import { Table } from '../parts/table.tsx'
import { dayText, Mark, Time, Verdict } from '../parts/values.tsx'
import { useLoaded, useRun } from '../use-operator.ts'

/** The groups of a comparison, and whose amounts the sum has. */
const groups: Record<keyof StatementReport, { title: string; owner?: string }> = {
  matched: { title: 'Matched' },
  missing_here: { title: 'Missing here', owner: 'by the bank' },
  missing_at_bank: { title: 'Missing at the bank', owner: 'by the service' },
  differs: { title: 'Different', owner: 'by the bank' },
}
const names = Object.keys(groups) as (keyof StatementReport)[]

type Compared = { bank: string; date: string; result: LongResults['statement'] }

const Comparison = ({ bank, date, result }: Compared) => {
  const different = names.filter((name) => name !== 'matched' && result[name].count > 0)
  const differences = different.reduce((sum, name) => sum + result[name].count, 0)
  const figures = names.map((name) => [
    groups[name].title,
    <>
      {result[name].count}{' '}
      <small>
        {result[name].sum} GHS {groups[name].owner}
      </small>
    </>,
  ])
  return (
    <div class="stack" role="status">
      <h3>
        {bank}, {dayText(date)}
      </h3>
      <Verdict isGood={differences === 0}>
        {differences === 0 ? 'The statement agrees' : `Differences: ${differences}`}
      </Verdict>
      <Facts kind="figures" of={Object.fromEntries(figures)} />
      {result.ignored > 0 && <p class="muted">Ignored rows of other days: {result.ignored}</p>}
      {different.map((name) => (
        <section key={name}>
          <h3>{groups[name].title}</h3>
          <Table
            label={groups[name].title}
            columns={{
              Line: 'line',
              Debit: ({ reference }) => reference,
              UUID: 'uuid',
              'Bank’s reference': 'bank_reference',
              Amount: 'amount',
              Difference: ({ reason }) => reason,
            }}
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

const NONE: EmptyText = [
  'No statement yet',
  'The columns are those of the bank’s setting, or uuid or bank_reference, amount, currency and completed_at.',
]

/** Compares a bank's statement of a day with the debits of the service. */
export const Statement = ({ date }: { date: string }) => {
  const banks = useObjects('bank') ?? []
  const [chosen, setChosen] = useState<string>()
  const bank = chosen ?? banks[0]?.[0] ?? ''
  const [compared, setCompared] = useState<Compared>()
  const { isRunning, error, run } = useRun()
  const isShown = compared?.bank === bank && compared.date === date && !isRunning && !error
  const compare = async (form: HTMLFormElement): Promise<void> => {
    const { statement = '' } = await contentsOf(form)
    const result = await operate('reconciliation', 'statement', { bank, date, statement })
    setCompared({ bank, date, result })
  }
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const form = event.currentTarget
    run(() => compare(form))
  }
  const example = (
    <CsvButton
      label="Download an example"
      name={`statement-${bank}-${date}.csv`}
      load={() => exampleOf(bank, date)}
    />
  )
  return (
    <Panel title="Bank statement" actions={isSandbox() && example}>
      <div class="stack">
        <form class="filters" onSubmit={submit}>
          <label>
            Bank
            <select value={bank} onChange={(event) => setChosen(event.currentTarget.value)}>
              <Options of={banks} selected={bank} />
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
        {!isShown && !error && <Empty of={NONE} />}
      </div>
    </Panel>
  )
}

const Result = ({ checked, differences }: Finding) => {
  if (differences > 0) return <Mark tone="bad">Differences: {differences}</Mark>
  return checked > 0 ? <Mark tone="good">holds</Mark> : <Mark tone="">nothing to check</Mark>
}

const Invariant = ({ title, examples }: Finding) => (
  <>
    {title}
    <ul class="break">
      {examples.map(({ provider, subject, difference }) => (
        <li key={`${subject} ${difference}`}>
          <small>
            {provider && `${provider}, `}
            <span class="mono">{subject}</span> {difference}
          </small>
        </li>
      ))}
    </ul>
  </>
)

const Findings = ({ result }: { result: ReconciliationResult }) => {
  const { differences, invariants, completed_debits, held, checked_at } = result
  const figures = Object.entries(completed_debits).map(([name, amount]) => [
    `${sentence(name)} (GHS)`,
    amount,
  ])
  return (
    <Panel>
      <div class="stack">
        <p>
          <Verdict isGood={differences === 0}>
            {differences === 0 ? 'No differences' : `Differences: ${differences}`}
          </Verdict>{' '}
          <span class="muted">
            checked at <Time at={checked_at} />
          </span>
        </p>
        {held.length > 0 && (
          <p class="notice warn">
            A restore holds {held.join(', ')}. Their debits are not checked.
          </p>
        )}
        <Facts kind="figures" of={Object.fromEntries(figures)} />
        <Table
          label="Invariants"
          columns={{
            'No.': 'number',
            Invariant: { wide: (finding) => <Invariant {...finding} /> },
            Checked: 'checked',
            Result: (finding) => <Result {...finding} />,
          }}
          rows={invariants.toSorted(
            (a, b) => Number(b.differences > 0) - Number(a.differences > 0),
          )}
          keyOf={({ number }) => number}
        />
      </div>
    </Panel>
  )
}

/** Checks of the stored data of a day, and of a bank's statement. */
export const ReconciliationScreen = () => {
  const date = chosenDay()
  // The check of a large day takes minutes on a stage.
  const [requested, setRequested] = useState(isSandbox() ? date : '')
  const isChecked = isSandbox() || requested === date
  const load = (signal: AbortSignal) => operate('reconciliation', 'run', { date }, signal)
  const check = useLoaded(isChecked ? load : undefined, [date, isChecked])
  return (
    <Screen
      title="Reconciliation"
      about="Recomputes a day from the stored data. Changes nothing."
      filters={[dayFilter()]}
      actions={
        <button
          type="button"
          class="primary"
          onClick={() => (isChecked ? check.reload() : setRequested(date))}
        >
          {isChecked ? 'Check again' : 'Check the day'}
        </button>
      }
    >
      {isChecked ? (
        <Data of={check}>{(result) => <Findings result={result} />}</Data>
      ) : (
        <Panel>
          <Empty
            of={[
              `${dayText(date)} is not checked`,
              '“Check the day” reads all debits of the day, which can take minutes.',
            ]}
          />
        </Panel>
      )}
      <Statement date={date} />
    </Screen>
  )
}

import { useState } from 'preact/hooks'
import type { StatementReport } from '../../../shared/domain/banks/statement.ts'
import type { Finding } from '../../../shared/domain/operator/finding.ts'
import type { LongResults } from '../../../shared/operator/results.ts'
import type { ReconciliationResult } from '../../../shared/views/operator/reconciliation.ts'
import { sentence } from '../catalogue-fields.ts'
import { isSandbox, LIMIT_MAX, operate } from '../client.ts'
import { Button, CsvButton, showFailure } from '../parts/button.tsx'
import { Control, chosenDay, onSubmit, useObjects } from '../parts/field.tsx'
import { Data, Empty, type EmptyText, Facts, Failure, Panel, Screen } from '../parts/screen.tsx'
import { named, Table } from '../parts/table.tsx'
import { dayText, Mark, objectName, Time, Verdict } from '../parts/values.tsx'
import { useOperator, useRun } from '../use-operator.ts'

/** The groups of a comparison, and whose amounts the sum has. */
const groups: Record<keyof StatementReport, { title: string; owner?: string }> = {
  matched: { title: 'Matched' },
  missing_here: { title: 'Missing here', owner: 'by the bank' },
  missing_at_bank: { title: 'Missing at the bank', owner: 'by the service' },
  differs: { title: 'Different', owner: 'by the bank' },
}
const names = Object.keys(groups) as (keyof StatementReport)[]

const Differences = ({ count, none }: { count: number; none: string }) => (
  <Verdict isGood={count === 0}>{count === 0 ? none : `Differences: ${count}`}</Verdict>
)

type Compared = { bank: string; date: string; result: LongResults['statement'] }

const Comparison = ({ bank, date, result }: Compared) => {
  const different = names.filter((name) => name !== 'matched' && result[name].count > 0)
  const count = different.reduce((sum, name) => sum + result[name].count, 0)
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
      <Differences count={count} none="The statement agrees" />
      <Facts kind="figures" of={Object.fromEntries(figures)} />
      {result.ignored > 0 && <p class="muted">Ignored rows of other days: {result.ignored}</p>}
      {different.map((name) => (
        <section key={name}>
          <h3>{groups[name].title}</h3>
          <Table
            label={groups[name].title}
            columns={{
              Line: 'line',
              'Debit or batch': ({ reference }) => reference && objectName(reference),
              ...named('uuid', 'bank_reference', 'amount'),
              Difference: ({ reason }) => reason,
            }}
            rows={result[name].examples}
          />
        </section>
      ))}
    </div>
  )
}

const COLUMNS = ['uuid', 'bank_reference', 'amount', 'currency', 'completed_at'] as const

const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`

/** Writes the completed debits of a bank as its statement, to try the comparison. */
const exampleOf = async (bank: string, date: string): Promise<string> => {
  const debits = await operate('debit', 'list', { limit: LIMIT_MAX })
  const lines = debits
    .filter((debit) => debit.bank === bank && debit.completed_at?.startsWith(date))
    .map((debit) => COLUMNS.map((name) => quoted(debit[name] ?? '')).join(','))
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}

const NONE: EmptyText = [
  'No statement yet',
  'The columns are those of the bank’s setting, or uuid or bank_reference, amount, currency and completed_at.',
]

/** Compares a bank's statement of a day with the debits of the service. */
const Statement = ({ date }: { date: string }) => {
  const banks = useObjects('bank')
  const [chosen, setChosen] = useState<string>()
  const bank = chosen ?? banks?.[0]?.[0] ?? ''
  const [compared, setCompared] = useState<Compared>()
  const { isRunning, error, run } = useRun(showFailure)
  const isShown = compared?.bank === bank && compared.date === date && !isRunning && !error
  const submit = onSubmit((_, contents) =>
    run(async () => {
      const { statement = '' } = await contents()
      const result = await operate('reconciliation', 'statement', { bank, date, statement })
      setCompared({ bank, date, result })
    }),
  )
  const example = (
    <CsvButton
      label="Download an example"
      name={`statement-${bank}-${date}.csv`}
      load={() => exampleOf(bank, date)}
    />
  )
  return (
    <Panel title="Bank statement" actions={isSandbox() && example}>
      <form class="filters" onSubmit={submit}>
        <Control
          label="Bank"
          required
          value={bank}
          choices={banks}
          onInput={(event) => setChosen(event.currentTarget.value)}
        />
        <Control
          label="CSV or camt.053"
          type="file"
          name="statement"
          required
          accept=".csv,.txt,.xml"
        />
        <button type="submit" disabled={isRunning}>
          {isRunning ? 'Comparing…' : 'Compare'}
        </button>
      </form>
      {error && <Failure error={error} />}
      {isShown && <Comparison {...compared} />}
      {!isShown && !error && <Empty of={NONE} />}
    </Panel>
  )
}

const resultOf = ({ checked, differences }: Finding) => {
  if (differences > 0) return <Mark tone="bad">Differences: {differences}</Mark>
  return checked > 0 ? <Mark tone="good">holds</Mark> : <Mark tone="">nothing to check</Mark>
}

const Invariant = ({ title, examples }: Finding) => (
  <>
    {title}
    <ul>
      {examples.map(({ provider, subject, difference }) => (
        <li key={`${subject} ${difference}`}>
          <small>
            {provider && `${provider}, `}
            <span class="mono">{objectName(subject)}</span> {difference}
          </small>
        </li>
      ))}
    </ul>
  </>
)

const Findings = (result: ReconciliationResult) => {
  const { differences, invariants, completed_debits, held, checked_at } = result
  const sums = Object.entries(completed_debits).map(([key, sum]) => [`${sentence(key)} (GHS)`, sum])
  return (
    <>
      <p>
        <Differences count={differences} none="No differences" />{' '}
        <span class="muted">
          checked at <Time at={checked_at} />
        </span>
      </p>
      {held.length > 0 && (
        <p class="notice warn">A restore holds {held.join(', ')}. Their debits are not checked.</p>
      )}
      <Facts kind="figures" of={Object.fromEntries(sums)} />
      <Table
        label="Invariants"
        columns={{
          'No.': 'number',
          Invariant: { wide: Invariant },
          Checked: 'checked',
          Result: resultOf,
        }}
        rows={invariants.toSorted((a, b) => Number(b.differences > 0) - Number(a.differences > 0))}
      />
    </>
  )
}

export const ReconciliationScreen = () => {
  const [date, filters] = chosenDay()
  // The check of a large day takes minutes on a stage.
  const [requested, setRequested] = useState(isSandbox() ? date : '')
  const isChecked = isSandbox() || requested === date
  const check = useOperator('reconciliation', 'run', isChecked ? { date } : undefined)
  const none: EmptyText = [
    `${dayText(date)} is not checked`,
    '“Check the day” reads all debits of the day, which can take minutes.',
  ]
  return (
    <Screen
      about="Recomputes a day from the stored data. Changes nothing."
      filters={filters}
      actions={
        <Button class="primary" onClick={() => (isChecked ? check.reload() : setRequested(date))}>
          {isChecked ? 'Check again' : 'Check the day'}
        </Button>
      }
    >
      <Statement date={date} />
      <Panel title="Invariants">
        <Data of={check} none={!isChecked && none}>
          {Findings}
        </Data>
      </Panel>
    </Screen>
  )
}

import { useState } from 'preact/hooks'
import type { Finding } from '../../../shared/domain/operator/finding.ts'
import type { ReconciliationResult } from '../../../shared/views/operator/reconciliation.ts'
import { sentence } from '../catalogue-fields.ts'
import { isSandbox, operate } from '../client.ts'
import { chosenDay, dayFilter } from '../parts/filters.tsx'
import type { ViewColumns } from '../parts/members.tsx'
import { Data, Empty, Facts, Panel, Screen } from '../parts/screen.tsx'
import { Statement } from '../parts/statement.tsx'
import { Table } from '../parts/table.tsx'
import { dayText, Mark, Time, Verdict } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

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

const columns: ViewColumns<Finding> = {
  'No.': 'number',
  Invariant: { wide: (finding) => <Invariant {...finding} /> },
  Checked: 'checked',
  Result: (finding) => <Result {...finding} />,
}

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
          columns={columns}
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
  const load = () => operate('reconciliation', 'run', { date })
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

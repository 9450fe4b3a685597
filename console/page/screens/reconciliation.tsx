import { useState } from 'preact/hooks'
import type { Finding } from '../../../shared/domain/operator/finding.ts'
import type { ReconciliationResult } from '../../../shared/views/operator/reconciliation.ts'
import { isSandbox, operate } from '../client.ts'
import { chosenDay, DayFilter } from '../parts/filters.tsx'
import { Data, Empty, Figures, Panel, Screen } from '../parts/screen.tsx'
import { Statement } from '../parts/statement.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { dayText, Time } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

const Result = ({ checked, differences }: Finding) => {
  if (differences > 0) return <span class="status bad">Differences: {differences}</span>
  return checked > 0 ? (
    <span class="status good">holds</span>
  ) : (
    <span class="status">nothing to check</span>
  )
}

const columns: Column<Finding>[] = [
  { title: 'No.', cell: ({ number }) => number, isNumber: true },
  {
    title: 'Invariant',
    isWide: true,
    cell: ({ title, examples }) => (
      <>
        {title}
        {examples.length > 0 && (
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
        )}
      </>
    ),
  },
  { title: 'Checked', cell: ({ checked }) => checked, isNumber: true },
  { title: 'Result', cell: (invariant) => <Result {...invariant} /> },
]

const isWrong = ({ differences }: Finding): boolean => differences > 0

const Findings = ({ result }: { result: ReconciliationResult }) => {
  const { differences, invariants, completed_debits, held, checked_at } = result
  return (
    <Panel>
      <div class="stack">
        <p>
          <strong class={`status ${differences === 0 ? 'good' : 'bad'}`}>
            {differences === 0 ? 'No differences' : `Differences: ${differences}`}
          </strong>{' '}
          <span class="muted">
            checked at <Time at={checked_at} />
          </span>
        </p>
        {held.length > 0 && (
          <p class="notice warn">
            A restore holds {held.join(', ')}. Their debits are not checked.
          </p>
        )}
        <Figures
          rows={Object.entries(completed_debits).map(([name, amount]) => [
            `${name[0]?.toUpperCase()}${name.slice(1)} (GHS)`,
            amount,
          ])}
        />
        <Table
          label="Invariants"
          columns={columns}
          rows={[...invariants.filter(isWrong), ...invariants.filter((one) => !isWrong(one))]}
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
  const check = useLoaded(
    isChecked ? () => operate('reconciliation', 'run', { date }) : undefined,
    [date, isChecked],
  )
  return (
    <Screen
      title="Reconciliation"
      about="Recomputes a day from the stored data. Changes nothing."
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
      <DayFilter />
      {isChecked ? (
        <Data of={check}>{(result) => <Findings result={result} />}</Data>
      ) : (
        <Panel>
          <Empty title={`${dayText(date)} is not checked`}>
            “Check the day” reads all debits of the day, which can take minutes.
          </Empty>
        </Panel>
      )}
      <Statement date={date} />
    </Screen>
  )
}

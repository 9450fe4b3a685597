import { useState } from 'preact/hooks'
import { isSandbox, mayUse, operate, serviceNow } from '../client.ts'
import { type Matter, matters } from '../matters.tsx'
import { type Outcomes, recentOutcomes } from '../outcomes.ts'
import { serviceDay } from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Link, Time } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { useLoaded } from '../use-operator.ts'

const columns: Column<Matter>[] = [
  {
    title: 'Matter',
    cell: ({ title, screen, filters }) => <a href={linkTo(screen, '', filters)}>{title}</a>,
  },
  {
    title: 'Open',
    cell: ({ count }) => <span class={`status ${count > 0 ? 'bad' : 'good'}`}>{count}</span>,
    isNumber: true,
  },
  { title: 'Since', cell: ({ since }) => <Time at={since} /> },
  { title: 'Which', cell: ({ detail }) => detail, isWide: true },
]

const outcomeColumns = (kind: 'bank' | 'provider'): Column<Outcomes>[] => [
  {
    title: kind === 'bank' ? 'Bank' : 'Provider',
    cell: ({ name }) => <Link to={kind} id={name} />,
  },
  { title: 'Completed', cell: ({ completed }) => completed, isNumber: true },
  { title: 'Failed', cell: ({ failed }) => failed, isNumber: true },
  { title: 'Success', cell: ({ share }) => `${share} %`, isNumber: true },
  { title: 'p95', cell: ({ p95 }) => `${p95.toFixed(1)} s`, isNumber: true },
  {
    title: 'Last error',
    cell: ({ lastError }) =>
      lastError && (
        <>
          {lastError.code.replaceAll('_', ' ')}, <Time at={lastError.at} />{' '}
          <Link id={lastError.reference} />
        </>
      ),
    isWide: true,
  },
]

const LISTED_MAX = 1_000

/** Reads the debits of the last 15 minutes, of which some began yesterday. */
const RecentOutcomes = () => {
  const from = serviceDay(-1)
  const load = () => operate('debit', 'list', { from, limit: String(LISTED_MAX) })
  const debits = useLoaded(load, [from], { entities: isSandbox() ? ['debit'] : [] })
  return (
    <Data of={debits}>
      {(loaded) => (
        <div class="stack">
          {loaded.length === LISTED_MAX && (
            <p class="notice warn">Debits before the newest {LISTED_MAX} are not counted.</p>
          )}
          {(['bank', 'provider'] as const).map((kind) => (
            <Table
              key={kind}
              label={`Outcomes by ${kind}`}
              columns={outcomeColumns(kind)}
              rows={recentOutcomes(loaded, kind, serviceNow())}
              keyOf={({ name }) => name}
            >
              {kind === 'bank' && <Empty title="No debit has ended in the last 15 minutes" />}
            </Table>
          ))}
          {!isSandbox() && (
            <button type="button" onClick={debits.reload}>
              Read again
            </button>
          )}
        </div>
      )}
    </Data>
  )
}

/** What is open, for the person on call. */
export const NowScreen = () => {
  // A stage reads each debit, and records the read.
  const [isRequested, setRequested] = useState(isSandbox())
  return (
    <Screen title="Now" about="What is open, with the oldest of each. Each link leads to its list.">
      <Panel>
        <Table
          label="Open matters"
          columns={columns}
          rows={matters.value}
          keyOf={({ title }) => title}
        />
      </Panel>
      {mayUse('debit') && (
        <Panel title="Outcomes of the last 15 minutes">
          {isRequested ? (
            <RecentOutcomes />
          ) : (
            <button type="button" onClick={() => setRequested(true)}>
              Read the newest debits
            </button>
          )}
        </Panel>
      )}
    </Screen>
  )
}

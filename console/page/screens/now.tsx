import { useState } from 'preact/hooks'
import type { OutcomeCounts, RingingAlarm } from '../../server/backend.ts'
import { exchange, isSandbox, mayUse, operate, serviceNow } from '../client.ts'
import { type Matter, matters } from '../matters.tsx'
import { countOutcomes, type Outcomes, outcomesOf } from '../outcomes.ts'
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
  { title: 'p95', cell: ({ p95 }) => p95 !== undefined && `${p95.toFixed(1)} s`, isNumber: true },
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

const OutcomeTables = ({ counts }: { counts: OutcomeCounts }) => (
  <>
    {(['bank', 'provider'] as const).map((kind) => (
      <Table
        key={kind}
        label={`Outcomes by ${kind}`}
        columns={outcomeColumns(kind)}
        rows={outcomesOf(counts[kind])}
        keyOf={({ name }) => name}
      >
        {kind === 'bank' && <Empty title="No debit has ended in the last 15 minutes" />}
      </Table>
    ))}
  </>
)

/** Counts the debits of a sandbox, of which some began yesterday. */
const SandboxOutcomes = () => {
  const from = serviceDay(-1)
  const load = () => operate('debit', 'list', { from, limit: String(LISTED_MAX) })
  const debits = useLoaded(load, [from], { entities: ['debit'] })
  return (
    <Data of={debits}>
      {(loaded) => (
        <>
          {loaded.length === LISTED_MAX && (
            <p class="notice warn">Debits before the newest {LISTED_MAX} are not counted.</p>
          )}
          <OutcomeTables counts={countOutcomes(loaded, serviceNow())} />
        </>
      )}
    </Data>
  )
}

/** A query of a stage's log costs money, so the operator asks for it. */
const StageOutcomes = () => {
  const [isRequested, setRequested] = useState(false)
  const load = () => exchange<OutcomeCounts>('GET', '/console/outcomes')
  const counts = useLoaded(isRequested ? load : undefined, [])
  return (
    <>
      {isRequested && <Data of={counts}>{(loaded) => <OutcomeTables counts={loaded} />}</Data>}
      <button type="button" onClick={() => (isRequested ? counts.reload() : setRequested(true))}>
        {isRequested ? 'Query again' : 'Query the log'}
      </button>
    </>
  )
}

const alarmColumns: Column<RingingAlarm>[] = [
  { title: 'Alarm', cell: ({ name }) => <code>{name}</code> },
  { title: 'Since', cell: ({ since }) => <Time at={since} /> },
  { title: 'Event and action', cell: ({ description }) => description, isWide: true },
]

const ALARM_POLL_MS = 60_000

const RingingAlarms = () => {
  const load = () => exchange<RingingAlarm[]>('GET', '/console/alarms')
  const alarms = useLoaded(load, [], { pollMs: ALARM_POLL_MS })
  return (
    <Panel title="Alarms that ring">
      <Data of={alarms}>
        {(rows) => (
          <Table label="Alarms" columns={alarmColumns} rows={rows} keyOf={({ name }) => name}>
            <Empty title="No alarm rings" />
          </Table>
        )}
      </Data>
    </Panel>
  )
}

/** What is open, for the person on call. */
export const NowScreen = () => (
  <Screen title="Now" about="What is open, with the oldest of each. Each link leads to its list.">
    {!isSandbox() && <RingingAlarms />}
    <Panel>
      <Table
        label="Open matters"
        columns={columns}
        rows={matters.value}
        keyOf={({ title }) => title}
      />
    </Panel>
    {(!isSandbox() || mayUse('debit')) && (
      <Panel title="Outcomes of the last 15 minutes">
        <div class="stack">{isSandbox() ? <SandboxOutcomes /> : <StageOutcomes />}</div>
      </Panel>
    )}
  </Screen>
)

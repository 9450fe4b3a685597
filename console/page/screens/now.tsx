import { useState } from 'preact/hooks'
import type { OutcomeCounts, RingingAlarm } from '../../server/backend.ts'
import { exchange, isSandbox, mayUse, operate, serviceNow, settings } from '../client.ts'
import { matters } from '../matters.ts'
import { countOutcomes, type Outcomes, outcomesOf } from '../outcomes.ts'
import { serviceDay } from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel, type ViewColumns } from '../parts/table.tsx'
import { Link, Time, Verdict, words } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { useLoaded } from '../use-operator.ts'

const LastError = ({ of: { code, at, reference } }: { of: Outcomes['lastError'] & object }) => (
  <>
    {words(code)}, <Time at={at} /> <Link id={reference} />
  </>
)

const outcomeColumns = (kind: 'bank' | 'provider'): ViewColumns<Outcomes> => ({
  [kind === 'bank' ? 'Bank' : 'Provider']: ({ name }) => <Link to={kind} id={name} />,
  ...named('completed', 'failed'),
  Success: { number: ({ share }) => `${share} %` },
  p95: { number: ({ p95 }) => p95 !== undefined && `${p95.toFixed(1)} s` },
  'Last error': { wide: ({ lastError }) => lastError && <LastError of={lastError} /> },
})

const minutes = (): number => settings.value?.outcome_minutes ?? 0

const LISTED_MAX = 1_000

const OutcomeTables = ({ counts }: { counts: OutcomeCounts }) =>
  counts.bank.length === 0 ? (
    <Empty of={[`No debit has ended in the last ${minutes()} minutes`]} />
  ) : (
    (['bank', 'provider'] as const).map((kind) => (
      <Table
        key={kind}
        label={`Outcomes by ${kind}`}
        columns={outcomeColumns(kind)}
        rows={outcomesOf(counts[kind])}
        keyOf={({ name }) => name}
      />
    ))
  )

/** Counts the debits of a sandbox, of which some began yesterday. */
const SandboxOutcomes = () => {
  const from = serviceDay(-1)
  const load = (signal: AbortSignal) =>
    operate('debit', 'list', { from, limit: String(LISTED_MAX) }, signal)
  const debits = useLoaded(load, [from], { entities: ['debit'] })
  return (
    <Data of={debits}>
      {(loaded) => (
        <>
          {loaded.length === LISTED_MAX && (
            <p class="notice warn">Debits before the newest {LISTED_MAX} are not counted.</p>
          )}
          <OutcomeTables counts={countOutcomes(loaded, serviceNow() - minutes() * 60_000)} />
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

const ALARM_POLL_MS = 60_000

const RingingAlarms = () => {
  const load = () => exchange<RingingAlarm[]>('GET', '/console/alarms')
  return (
    <TablePanel
      title="Alarms that ring"
      label="Alarms"
      of={useLoaded(load, [], { pollMs: ALARM_POLL_MS })}
      columns={{
        Alarm: ({ name }) => <code>{name}</code>,
        Since: 'since',
        'Event and action': 'description',
      }}
      keyOf={({ name }) => name}
      empty={['No alarm rings']}
    />
  )
}

/** What is open, for the person on call. */
export const NowScreen = () => (
  <Screen title="Now" about="What is open, with the oldest of each. Each link leads to its list.">
    {!isSandbox() && <RingingAlarms />}
    <TablePanel
      label="Open matters"
      columns={{
        Matter: ({ title, screen, filters }) => <a href={linkTo(screen, '', filters)}>{title}</a>,
        Open: { number: ({ count }) => <Verdict isGood={count === 0}>{count}</Verdict> },
        Since: 'since',
        Which: 'detail',
      }}
      of={matters.value}
      keyOf={({ title }) => title}
    />
    {(!isSandbox() || mayUse('debit')) && (
      <Panel title={`Outcomes of the last ${minutes()} minutes`}>
        <div class="stack">{isSandbox() ? <SandboxOutcomes /> : <StageOutcomes />}</div>
      </Panel>
    )}
  </Screen>
)

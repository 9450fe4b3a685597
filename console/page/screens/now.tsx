import { useState } from 'preact/hooks'
import type { OutcomeCounts, RingingAlarm } from '../../server/backend.ts'
import { sentence } from '../catalogue-fields.ts'
import { exchange, isSandbox, LIMIT_MAX, mayUse, serviceNow, settings } from '../client.ts'
import { matters } from '../matters.ts'
import { countOutcomes, type Outcomes, outcomesOf } from '../outcomes.ts'
import { Button } from '../parts/button.tsx'
import { serviceDay } from '../parts/field.tsx'
import { Data, Empty, Failure, Omitted, Panel, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel, type ViewColumns } from '../parts/table.tsx'
import { Link, Time, Verdict, words } from '../parts/values.tsx'
import { useLoaded, usePage } from '../use-operator.ts'

const outcomeColumns = (kind: 'bank' | 'provider'): ViewColumns<Outcomes> => ({
  [sentence(kind)]: ({ name }) => <Link to={kind} id={name} />,
  ...named('completed', 'failed'),
  Success: { number: ({ share }) => `${share} %` },
  p95: { number: ({ p95 }) => p95 !== undefined && `${p95.toFixed(1)} s` },
  'Last error': {
    wide: ({ lastError: last }) =>
      last && (
        <>
          {words(last.code)}, <Time at={last.at} /> <Link id={last.reference} />
        </>
      ),
  },
})

const minutes = (): number => settings.value?.outcome_minutes ?? 0

const outcomeTables = (counts: OutcomeCounts) =>
  counts.bank.length === 0 ? (
    <Empty of={[`No debit has ended in the last ${minutes()} minutes`]} />
  ) : (
    (['bank', 'provider'] as const).map((kind) => (
      <Table
        key={kind}
        label={`Outcomes by ${kind}`}
        columns={outcomeColumns(kind)}
        rows={outcomesOf(counts[kind])}
      />
    ))
  )

/** Counts the debits of a sandbox, of which some began yesterday. */
const SandboxOutcomes = () => {
  const options = { from: serviceDay(-1), limit: LIMIT_MAX }
  return (
    <Data of={usePage('debit', options, { entities: ['debit'] })}>
      {(page) => (
        <>
          <Omitted rows="Debits" of={page} />
          {outcomeTables(countOutcomes(page.rows, serviceNow() - minutes() * 60_000))}
        </>
      )}
    </Data>
  )
}

/** A query of a stage's log costs money, so the operator asks for it. */
const StageOutcomes = () => {
  const [isRequested, setRequested] = useState(false)
  const load = () => exchange<OutcomeCounts>('GET', '/console/outcomes')
  const counts = useLoaded(['outcomes'], load, { isPaused: !isRequested })
  return (
    <>
      {isRequested && <Data of={counts}>{outcomeTables}</Data>}
      <Button onClick={() => (isRequested ? counts.reload() : setRequested(true))}>
        {isRequested ? 'Query again' : 'Query the log'}
      </Button>
    </>
  )
}

const RingingAlarms = () => {
  const load = () => exchange<RingingAlarm[]>('GET', '/console/alarms')
  return (
    <TablePanel
      title="Alarms that ring"
      label="Alarms"
      of={useLoaded(['alarms'], load, { pollMs: 60_000 })}
      columns={{
        Alarm: ({ name }) => <code>{name}</code>,
        ...named('since', 'description as Event and action'),
      }}
      empty={['No alarm rings']}
    />
  )
}

export const NowScreen = () => (
  <Screen about="What is open, with the oldest of each. Each link leads to its list.">
    {!isSandbox() && <RingingAlarms />}
    <TablePanel
      label="Open matters"
      columns={{
        Matter: ({ title, list }) => <a href={`#/${list}`}>{title}</a>,
        Open: {
          number: ({ count, mark }) => (
            <Verdict isGood={count === 0 && !mark}>
              {count}
              {mark}
            </Verdict>
          ),
        },
        ...named('since'),
        Which: {
          wide: ({ detail, error, reload }) =>
            error ? <Failure error={error} retry={reload} /> : detail,
        },
      }}
      of={matters.value}
      empty={['No list has been read', 'Your AWS credentials decide which lists are shown.']}
    />
    {(!isSandbox() || mayUse('debit')) && (
      <Panel title={`Outcomes of the last ${minutes()} minutes`}>
        {isSandbox() ? <SandboxOutcomes /> : <StageOutcomes />}
      </Panel>
    )}
  </Screen>
)

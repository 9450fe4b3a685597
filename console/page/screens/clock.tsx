import type { ClockState } from '../../server/backend.ts'
import { exchange } from '../client.ts'
import { Action, type ActionProps } from '../parts/action.tsx'
import { serviceDay } from '../parts/filters.tsx'
import { Panel, Screen } from '../parts/screen.tsx'
import { Data } from '../parts/states.tsx'
import { ServiceTime } from '../parts/values.tsx'
import { useLoaded } from '../use-operator.ts'

const moved = ({ now, frozen }: ClockState): string =>
  `The clock ${frozen ? 'stands' : 'is'} at ${now.slice(0, 19).replace('T', ' ')} UTC.`

type MoveProps = Pick<ActionProps<ClockState>, 'label' | 'about' | 'fields' | 'onDone'> & {
  body: (values: Record<string, string>) => Record<string, unknown>
}

const Move = ({ body, ...props }: MoveProps) => (
  <Action<ClockState>
    {...props}
    perform={(values) => exchange('POST', '/sandbox/clock', body(values))}
    done={moved}
  />
)

const steps = [
  ['1m', '+1 minute'],
  ['6m', '+6 minutes'],
  ['1h', '+1 hour'],
  ['1d', '+1 day'],
] as const

const Clock = ({ clock, reload }: { clock: ClockState; reload: () => void }) => (
  <div class="stack">
    <p class="clock">
      <ServiceTime />
    </p>
    <p class={`status ${clock.frozen ? 'warn' : 'good'}`}>{clock.frozen ? 'frozen' : 'running'}</p>
    <div class="row">
      {steps.map(([advance, label]) => (
        <Move key={advance} label={label} body={() => ({ advance })} onDone={reload} />
      ))}
      <Move
        label="Next midnight"
        body={() => ({ to: `${serviceDay(1)}T00:00:00Z` })}
        onDone={reload}
      />
      <Move
        label="Advance…"
        about="Moves the clock forward by a duration."
        fields={[{ name: 'advance', label: 'Duration, such as 30s, 6m, 2h or 5d', value: '30s' }]}
        body={({ advance }) => ({ advance })}
        onDone={reload}
      />
      <Move
        label="Move to…"
        about="Moves the clock forward to a time."
        fields={[{ name: 'to', label: 'Time (UTC)', value: `${serviceDay(1)}T02:00:00Z` }]}
        body={({ to }) => ({ to })}
        onDone={reload}
      />
      <Move
        label={clock.frozen ? 'Run' : 'Freeze'}
        body={() => ({ freeze: !clock.frozen })}
        onDone={reload}
      />
    </div>
    <p class="muted">
      The clock moves forward only, from one due item to the next. Timers, retries and nightly jobs
      run on the way.
    </p>
  </div>
)

/** The clock of a sandbox, and its reset. */
export const ClockScreen = () => {
  // A move from elsewhere changes everything.
  const watch = { entities: ['*'] }
  const clock = useLoaded(() => exchange<ClockState>('GET', '/sandbox/clock'), [], watch)
  return (
    <Screen
      title="Clock"
      about="The time of the sandbox, for tests of timeouts, retries and settlement."
      actions={
        <Action
          label="Reset the sandbox"
          kind="danger"
          about="Deletes all debits, webhooks and changes. Restores the seeds and the time of this machine."
          confirmation={<p class="notice bad">The deleted data cannot be restored.</p>}
          perform={() => exchange('POST', '/sandbox/reset')}
          done="The sandbox is new."
          onDone={clock.reload}
        />
      }
    >
      <Panel>
        <Data of={clock}>{(shown) => <Clock clock={shown} reload={clock.reload} />}</Data>
      </Panel>
    </Screen>
  )
}

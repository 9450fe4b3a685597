import type { DayResult } from '../../../shared/views/operator/day.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { isSandbox, mayUse, operate } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { chosenDay, dayFilter, serviceDay } from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel } from '../parts/table.tsx'
import { Code, dayText, Mark, Verdict } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

/** The closing of a day, what the next days pay, and the days without payouts, for finance. */

const Points = ({ day: { result, open, banks } }: { day: DayResult }) => (
  <div class="stack">
    <Verdict isGood={result === 'clean'}>
      {result === 'clean' ? 'The day is clean' : `Open points: ${open.length}`}
    </Verdict>
    {open.length > 0 && (
      <Table
        label="Open points"
        columns={{
          ...named('check', 'subject', 'reason'),
          'Next command': ({ command }) => <Code label="Command" text={command} />,
        }}
        rows={open}
        keyOf={({ check, subject, reason }) => `${check} ${subject} ${reason}`}
      />
    )}
    <Table
      label="Banks of the day"
      columns={{
        ...named('bank', 'debits', 'refunds', 'payouts', 'remitted', 'receivable', 'statement'),
      }}
      rows={banks}
      keyOf={({ bank }) => bank}
      empty={['No bank has moved money on this day']}
    />
  </div>
)

const Closing = ({ date }: { date: string }) => {
  const day = useLoaded((signal) => operate('day', 'close', { date }, signal), [date])
  return <Data of={day}>{(shown) => typeof shown !== 'string' && <Points day={shown} />}</Data>
}

type PayableDay = { day: string; count: number; net: string }

const Payable = () => {
  const pending = { status: 'pending', limit: '1000' } as const
  const batches = useOperator('settlement', 'list', pending, { entities: ['batch'] })
  const payable = batches.data?.filter(({ net }) => isAboveZero(net))
  const rows = [...new Set(payable?.flatMap(({ payable_on }) => payable_on ?? []))]
    .sort()
    .map((day): PayableDay => {
      const due = payable?.filter(({ payable_on }) => payable_on === day) ?? []
      return { day, count: due.length, net: sumOf(due.map(({ net }) => net)) }
    })
  return (
    <TablePanel
      title="Payouts by day"
      actions={<a href={linkTo('settlement', '', { status: 'pending' })}>Pending batches</a>}
      of={{ ...batches, data: payable && rows }}
      columns={{
        'Payable on': ({ day }) => (
          <>
            {dayText(day)} {day < serviceDay() && <Mark tone="bad">overdue</Mark>}
          </>
        ),
        Batches: 'count',
        'Net (GHS)': 'net',
      }}
      keyOf={({ day }) => day}
      empty={['No batch waits for its payout']}
    />
  )
}

const Calendar = ({ year }: { year: string }) => {
  const { data, ...calendar } = useOperator(
    'calendar',
    'show',
    { year },
    { entities: ['calendar'] },
  )
  return (
    <TablePanel
      title={`Holidays of ${year}`}
      actions={<Call label="Add a holiday" of={['calendar', 'add']} done="The holiday is added." />}
      label="Holidays"
      of={{ ...calendar, data: data?.days }}
      columns={{
        Day: 'date',
        Name: { wide: ({ name }) => name },
        '': ({ date }) => (
          <Call
            label="Remove"
            isSmall
            kind="danger"
            of={['calendar', 'remove', { date }]}
            done="The holiday is removed."
          />
        ),
      }}
      keyOf={({ date }) => date}
      empty={['No holidays', 'Banks with payout days “working” pay on all working days.']}
    />
  )
}

export const ClosingScreen = () => {
  const date = chosenDay(-1)
  const isClosed = isSandbox() || place.value.filters.closed === date
  return (
    <Screen
      title="Closing"
      about="Whether a day is clean, what the next days pay, and the days without payouts."
      filters={[dayFilter(-1)]}
    >
      <Panel title={`Closing of ${dayText(date)}`}>
        {isClosed ? (
          <Closing date={date} />
        ) : (
          <Empty
            of={[
              'The day is not checked',
              <>
                <a href={linkTo('closing', '', { date, closed: date })}>Reconcile the day</a>, which
                reads all its debits and can take minutes.
              </>,
            ]}
          />
        )}
      </Panel>
      <div class="columns">
        {mayUse('settlement') && <Payable />}
        {mayUse('calendar') && <Calendar year={date.slice(0, 4)} />}
      </div>
    </Screen>
  )
}

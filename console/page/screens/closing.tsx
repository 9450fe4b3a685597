import type { DayResult } from '../../../shared/views/operator/day.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { isSandbox, mayUse } from '../client.ts'
import { Call } from '../parts/call.tsx'
import { chosenDay, serviceDay } from '../parts/field.tsx'
import { Data, Panel, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel } from '../parts/table.tsx'
import { Code, dayText, Mark, Verdict } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useOperator } from '../use-operator.ts'

/** The closing of a day, what the next days pay, and the days without payouts, for finance. */

const Points = ({ result, open, banks }: DayResult) => (
  <>
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
      />
    )}
    <Table
      label="Banks of the day"
      columns={named('bank', 'debits', 'refunds', 'payouts', 'remitted', 'receivable', 'statement')}
      rows={banks}
      empty={['No bank has moved money on this day']}
    />
  </>
)

const Payable = () => {
  const pending = { status: 'pending', limit: '1000' } as const
  const batches = useOperator('settlement', 'list', pending, { entities: ['batch'] })
  const payable = batches.data?.filter(({ net, payable_on }) => isAboveZero(net) && payable_on)
  const days = payable && [...Map.groupBy(payable, ({ payable_on }) => payable_on ?? '')]
  const rows = days?.map(([day, due]) => {
    return { day, count: due.length, net: sumOf(due.map(({ net }) => net)) }
  })
  return (
    <TablePanel
      title="Payouts by day"
      actions={<a href={linkTo('settlement', '', { status: 'pending' })}>Pending batches</a>}
      of={{ ...batches, data: rows?.sort((one, other) => one.day.localeCompare(other.day)) }}
      columns={{
        'Payable on': ({ day }) => (
          <>
            {dayText(day)} {day < serviceDay() && <Mark tone="bad">overdue</Mark>}
          </>
        ),
        ...named('count as Batches', 'net as Net (GHS)'),
      }}
      empty={['No batch waits for its payout']}
    />
  )
}

const Calendar = ({ year }: { year: string }) => {
  const calendar = useOperator('calendar', 'show', { year }, { entities: ['calendar'] })
  return (
    <TablePanel
      title={`Holidays of ${year}`}
      actions={<Call of={['calendar', 'add']} />}
      label="Holidays"
      of={{ ...calendar, data: calendar.data?.days }}
      columns={{
        ...named('date'),
        Name: { wide: ({ name }) => name },
        '': ({ date }) => <Call of={['calendar', 'remove', { date }]} />,
      }}
      empty={['No holidays', 'Banks with payout days “working” pay on all working days.']}
    />
  )
}

export const ClosingScreen = () => {
  const [date, filters] = chosenDay(-1)
  const isClosed = isSandbox() || place.value.filters.closed === date
  const day = useOperator('day', 'close', isClosed ? { date } : undefined)
  const request = (
    <>
      <a href={linkTo('closing', '', { date, closed: date })}>Reconcile the day</a>, which reads all
      its debits and can take minutes.
    </>
  )
  return (
    <Screen
      about="Whether a day is clean, what the next days pay, and the days without payouts."
      filters={filters}
    >
      <Panel title={`Closing of ${dayText(date)}`}>
        <Data of={day} none={!isClosed && ['The day is not checked', request]}>
          {(shown) => typeof shown !== 'string' && <Points {...shown} />}
        </Data>
      </Panel>
      <div class="columns">
        {mayUse('settlement') && <Payable />}
        {mayUse('calendar') && <Calendar year={date.slice(0, 4)} />}
      </div>
    </Screen>
  )
}

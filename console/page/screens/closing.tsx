import type { BatchResult } from '../../../shared/views/batch.ts'
import type { DayResult } from '../../../shared/views/operator/day.ts'
import { isAboveZero, sumOf, withSeparators } from '../amounts.ts'
import { isSandbox, mayUse } from '../client.ts'
import { isPayable } from '../due-batches.ts'
import { isOverdue } from '../matters.ts'
import { Call } from '../parts/call.tsx'
import { chosenDay } from '../parts/field.tsx'
import { Data, Omitted, Panel, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel } from '../parts/table.tsx'
import { Code, dayText, Mark, Noted, objectName, Verdict } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useOperator, usePage } from '../use-operator.ts'
import { PENDING_BATCHES } from './settlement.tsx'

/** Shows an amount owed, and how old its parts are. */
const Aged = ({ amount, ages }: { amount: string; ages: DayResult['owing'][number]['ages'] }) => (
  <Noted of={withSeparators(amount)}>
    {[
      [ages[0], 'of the day'],
      [ages[1], '1 day old'],
      [ages[2], '2 days old'],
      [ages.more, 'older'],
    ].map(([part = '', age]) => isAboveZero(part) && `${withSeparators(part)} ${age}`)}
  </Noted>
)

const Points = ({ result, open, banks, owing }: DayResult) => (
  <>
    <Verdict isGood={result === 'clean'}>
      {result === 'clean' ? 'The day is clean' : `Open points: ${open.length}`}
    </Verdict>
    {open.length > 0 && (
      <Table
        label="Open points"
        columns={{
          ...named('check'),
          Subject: ({ subject }) => objectName(subject),
          ...named('reason'),
          'Next command': ({ check, subject, command }) => (
            <Code label={`Command for ${subject}: ${check}`} text={command} />
          ),
        }}
        rows={open}
      />
    )}
    <Table
      label="Banks of the day"
      columns={{
        ...named('bank', 'debits', 'refunds', 'payouts', 'remitted'),
        Receivable: { number: ({ receivable, ages }) => <Aged amount={receivable} ages={ages} /> },
        ...named('statement'),
      }}
      rows={banks}
      empty={['No bank has moved money on this day']}
    />
    {owing.length > 0 && (
      <Table
        label="Providers that owe money"
        columns={{
          ...named('provider'),
          Balance: { number: ({ balance, ages }) => <Aged amount={balance} ages={ages} /> },
        }}
        rows={owing}
      />
    )}
  </>
)

/** Sums the nets of batches by payout day, the earliest first. */
const payoutDays = (batches: readonly BatchResult[]) =>
  [...Map.groupBy(batches.filter(isPayable), ({ payable_on }) => payable_on)]
    .map(([day, due]) => ({ day, count: due.length, net: sumOf(due.map(({ net }) => net)) }))
    .sort((one, other) => one.day.localeCompare(other.day))

const Payable = () => (
  <Panel
    title="Payouts by day"
    actions={<a href={linkTo('settlement', '', { status: 'pending' })}>Pending batches</a>}
  >
    <Data of={usePage('settlement', PENDING_BATCHES, { entities: ['batch'] })}>
      {(page) => (
        <>
          <Omitted rows="Batches" of={page} />
          <Table
            label="Payouts by day"
            columns={{
              'Payable on': ({ day }) => (
                <>
                  {dayText(day)} {isOverdue(day) && <Mark tone="bad">overdue</Mark>}
                </>
              ),
              ...named('count as Batches', 'net as Net (GHS)'),
            }}
            rows={payoutDays(page.rows)}
            empty={['No batch waits for its payout']}
          />
        </>
      )}
    </Data>
  </Panel>
)

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

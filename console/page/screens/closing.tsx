import type { DayResult } from '../../../shared/views/operator/day.ts'
import { isAboveZero, sumOf } from '../amounts.ts'
import { isSandbox, mayUse, operate } from '../client.ts'
import { OperatorAction } from '../parts/action.tsx'
import { DayFilter, serviceDay } from '../parts/filters.tsx'
import { Data, Empty, Panel, Screen } from '../parts/screen.tsx'
import { type Column, List, Table } from '../parts/table.tsx'
import { Code, dayText } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useLoaded, useOperator } from '../use-operator.ts'

/** The closing of a day, what the next days pay, and the days without payouts, for finance. */

const openColumns: Column<DayResult['open'][number]>[] = [
  { title: 'Check', cell: ({ check }) => check },
  { title: 'Subject', cell: ({ subject }) => subject },
  { title: 'Reason', cell: ({ reason }) => reason, isWide: true },
  { title: 'Next command', cell: ({ command }) => <Code label="Command" text={command} /> },
]

const bankColumns: Column<DayResult['banks'][number]>[] = [
  { title: 'Bank', cell: ({ bank }) => bank },
  { title: 'Debits', cell: ({ debits }) => debits, isNumber: true },
  { title: 'Refunds', cell: ({ refunds }) => refunds, isNumber: true },
  { title: 'Payouts', cell: ({ payouts }) => payouts, isNumber: true },
  { title: 'Remitted', cell: ({ remitted }) => remitted, isNumber: true },
  { title: 'Receivable', cell: ({ receivable }) => receivable, isNumber: true },
  { title: 'Statement', cell: ({ statement }) => statement },
]

const Closing = ({ date }: { date: string }) => {
  const day = useLoaded(() => operate('day', 'close', { date }), [date])
  return (
    <Data of={day}>
      {(shown) =>
        typeof shown !== 'string' && (
          <div class="stack">
            <p class={`status ${shown.result === 'clean' ? 'good' : 'bad'}`}>
              {shown.result === 'clean' ? 'The day is clean' : `Open points: ${shown.open.length}`}
            </p>
            {shown.open.length > 0 && (
              <Table
                label="Open points"
                columns={openColumns}
                rows={shown.open}
                keyOf={({ check, subject, reason }) => `${check} ${subject} ${reason}`}
              />
            )}
            <Table
              label="Banks of the day"
              columns={bankColumns}
              rows={shown.banks}
              keyOf={({ bank }) => bank}
            >
              <p class="muted">No bank has moved money on this day.</p>
            </Table>
          </div>
        )
      }
    </Data>
  )
}

type PayableDay = { day: string; count: number; net: string }

const payableColumns: Column<PayableDay>[] = [
  {
    title: 'Payable on',
    cell: ({ day }) => (
      <>
        {dayText(day)} {day < serviceDay() && <span class="status bad">overdue</span>}
      </>
    ),
  },
  { title: 'Batches', cell: ({ count }) => count, isNumber: true },
  { title: 'Net (GHS)', cell: ({ net }) => net, isNumber: true },
]

const Payable = () => {
  const pending = { status: 'pending', limit: '1000' } as const
  const batches = useOperator('settlement', 'list', pending, { entities: ['batch'] })
  return (
    <Panel
      title="Payouts by day"
      actions={<a href={linkTo('settlement', '', { status: 'pending' })}>Pending batches</a>}
    >
      <Data of={batches}>
        {(loaded) => {
          const payable = loaded.filter(({ net }) => isAboveZero(net))
          const days = [...new Set(payable.flatMap(({ payable_on }) => payable_on ?? []))].sort()
          return (
            <Table
              label="Payouts by day"
              columns={payableColumns}
              rows={days.map((day) => {
                const due = payable.filter(({ payable_on }) => payable_on === day)
                return { day, count: due.length, net: sumOf(due.map(({ net }) => net)) }
              })}
              keyOf={({ day }) => day}
            >
              <Empty title="No batch waits for its payout" />
            </Table>
          )
        }}
      </Data>
    </Panel>
  )
}

type Holiday = { date: string; name: string }

const holidayColumns: Column<Holiday>[] = [
  { title: 'Day', cell: ({ date }) => dayText(date) },
  { title: 'Name', cell: ({ name }) => name, isWide: true },
  {
    title: '',
    cell: ({ date }, reload) => (
      <OperatorAction
        label="Remove"
        isSmall
        kind="danger"
        call={['calendar', 'remove', { date }]}
        confirmation={() => null}
        done="The holiday is removed."
        onDone={reload}
      />
    ),
  },
]

const Calendar = ({ year }: { year: string }) => {
  const load = async (): Promise<Holiday[]> => (await operate('calendar', 'show', { year })).days
  const holidays = useLoaded(load, [year], { entities: ['calendar'] })
  return (
    <Panel
      title={`Holidays of ${year}`}
      actions={
        <OperatorAction
          label="Add a holiday"
          call={['calendar', 'add']}
          done="The holiday is added."
          onDone={holidays.reload}
        />
      }
    >
      <List label="Holidays" of={holidays} columns={holidayColumns} keyOf={({ date }) => date}>
        <Empty title="No holidays">Banks with payout days “working” pay on all working days.</Empty>
      </List>
    </Panel>
  )
}

export const ClosingScreen = () => {
  const date = place.value.filters.date ?? serviceDay(-1)
  const { closed = '' } = place.value.filters
  const isClosed = isSandbox() || closed === date
  return (
    <Screen
      title="Closing"
      about="Whether a day is clean, what the next days pay, and the days without payouts."
    >
      <DayFilter day={date} />
      <Panel title={`Closing of ${dayText(date)}`}>
        {isClosed ? (
          <Closing date={date} />
        ) : (
          <Empty title="The day is not checked">
            <a href={linkTo('closing', '', { date, closed: date })}>Reconcile the day</a>, which
            reads all its debits and can take minutes.
          </Empty>
        )}
      </Panel>
      <div class="columns">
        {mayUse('settlement') && <Payable />}
        {mayUse('calendar') && <Calendar year={date.slice(0, 4)} />}
      </div>
    </Screen>
  )
}

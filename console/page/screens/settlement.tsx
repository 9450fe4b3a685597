import type { BatchResult } from '../../../shared/views/batch.ts'
import type { DayResult } from '../../../shared/views/operator/day.ts'
import { isAboveZero, isBelowZero, sumOf, withSeparators } from '../amounts.ts'
import { type CallOptions, isSandbox, LIMIT_MAX, mayUse } from '../client.ts'
import { dueBatches, isPayable } from '../due-batches.ts'
import { isOverdue } from '../matters.ts'
import { Call } from '../parts/call.tsx'
import { chosen, chosenDay, serviceDay } from '../parts/field.tsx'
import { listScreen } from '../parts/list.tsx'
import { Data, Facts, Omitted, Panel, Payment, Screen } from '../parts/screen.tsx'
import { named, Table, TablePanel, type ViewColumns } from '../parts/table.tsx'
import { Code, dayText, Link, Mark, Noted, objectName, Status, Verdict } from '../parts/values.tsx'
import { linkTo } from '../place.ts'
import { place } from '../route.ts'
import { useOperator, usePage } from '../use-operator.ts'

/** The status of a batch with why it is not paid, or how it was completed. */
export const statusOf = ({ sealed_at, status, net, made_good_by, failure }: BatchResult) => {
  const isWaiting = status === 'pending' && isBelowZero(net)
  return (
    <Noted of={<Status value={status} />}>
      {made_good_by ? (
        <>
          offset by <Link id={made_good_by} mayWrap />
        </>
      ) : (
        (!sealed_at && 'is being built') || (isWaiting ? 'waits for later batches' : failure)
      )}
    </Noted>
  )
}

/** The stored amount is that of the last payout, which may have failed. */
const paidOf = ({ status, paid }: BatchResult) => (status === 'completed' ? paid : null)

const columns: ViewColumns<BatchResult> = {
  Batch: ({ id }) => <Link id={id} />,
  ...named('provider'),
  Status: statusOf,
  ...named('debits', 'gross', 'fee as Fees', 'adjustments', 'net'),
  Paid: { number: paidOf },
}

const WAITING = { status: 'pending', limit: LIMIT_MAX } as const

/** The batches that a run pays, by the values of its form and whatever the screen shows. */
const Due = ({ date = '', provider }: Partial<CallOptions>) => {
  const owner = { ...(provider && { provider }) }
  return (
    <Data of={usePage('settlement', { ...owner, ...WAITING })}>
      {(page) => {
        const { sum, providers } = dueBatches(page.rows, { date, ...owner })
        return (
          <>
            {providers.length > 0 ? (
              <Payment amount={`at most ${sum}`} to={providers.join(', ')} />
            ) : (
              <p class="muted">No batch waits for its payout.</p>
            )}
            <Omitted rows="Batches" of={page} />
          </>
        )
      }}
    </Data>
  )
}

type DayProps = { day: string; batches: readonly BatchResult[]; isWhole: boolean }

const Day = ({ day, batches, isWhole }: DayProps) => {
  const sum = (of: (batch: BatchResult) => string | null) => sumOf(batches.map(of))
  return (
    <Panel title={dayText(day)}>
      <Facts
        kind="figures"
        of={{
          Gross: sum(({ gross }) => gross),
          Fees: sum(({ fee }) => fee),
          Adjustments: sum(({ adjustments }) => adjustments),
          Net: sum(({ net }) => net),
          'Paid out': sum(paidOf),
        }}
      />
      {!isWhole && (
        <p class="muted">The figures are of the batches below; the day may have more.</p>
      )}
      <Table label={`Batches of ${dayText(day)}`} columns={columns} rows={batches} isAligned />
    </Panel>
  )
}

export const SettlementScreen = listScreen({
  about: () => 'The newest batches by settlement day, in GHS. A payout starts the day after.',
  label: 'Batches',
  noun: 'settlement',
  row: 'batch',
  entities: ['batch'],
  actions: () => (
    <Call
      of={['settlement', 'run']}
      about={`Builds the batches of a day from the debits completed before it, and pays the batches of earlier days.${
        isSandbox() ? ' Tomorrow settles the debits of today.' : ''
      }`}
      confirmation={(values) => <Due {...values} />}
      values={{ date: serviceDay(isSandbox() ? 1 : 0), ...chosen('provider') }}
    />
  ),
  columns,
  draw: ({ rows, isFirst, next }) => {
    const isFiltered = Object.keys(chosen('provider', 'status')).length > 0
    const cut = [...(isFirst ? [] : [rows[0]?.date]), ...(next ? [rows.at(-1)?.date] : [])]
    return (
      <div class="stack">
        {[...Map.groupBy(rows, ({ date }) => date)].map(([day, batches]) => (
          <Day key={day} day={day} batches={batches} isWhole={!isFiltered && !cut.includes(day)} />
        ))}
      </div>
    )
  },
  empty: [
    'No batches yet',
    'A nightly run settles the completed debits of the day before. “Run a day” settles now.',
  ],
})

/** An amount owed, with how old its parts are. */
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
    <Data of={usePage('settlement', WAITING, { entities: ['batch'] })}>
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

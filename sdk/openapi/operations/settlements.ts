import { array, object, pipe, string, url } from 'valibot'
import { BatchId } from '../../../shared/domain/ids.ts'
import { formatAmount } from '../../../shared/domain/money.ts'
import { invalid, Refusal } from '../../../shared/domain/refusal.ts'
import { addLine, noTotals } from '../../../shared/domain/settlement/batch.ts'
import { statementOf } from '../../../shared/domain/settlement/monthly-statement.ts'
import { Month, monthOf } from '../../../shared/domain/time.ts'
import { statementCsv, statementPage } from '../../../shared/settlement/report/monthly-statement.ts'
import { render } from '../../../shared/settlement/report/render.ts'
import * as batch from '../../../shared/views/batch.ts'
import { SignedAmount } from '../../../shared/views/fields.ts'
import {
  monthlyStatementSchema,
  monthlyStatementView,
} from '../../../shared/views/monthly-statement.ts'
import { cursorEntries } from '../../../shared/views/page.ts'
import * as examples from '../example-debit.ts'
import {
  type Descriptions,
  invalidCursor,
  invalidPage,
  lastPage,
  pageParameters,
} from './described.ts'

const month = monthOf(examples.NOON)

const statement = statementOf(examples.exampleBatch.provider, month, [examples.exampleBatch], true)

const reportCsv = Array.fromAsync(render('csv', examples.exampleBatch, examples.lines)).then(
  (records) => records.join(''),
)

const batchId = {
  description: 'Id of the batch',
  example: examples.exampleBatch.id,
  schema: BatchId,
}

export const settlements = {
  'list-settlements': {
    tag: 'Settlements',
    summary: 'List settlement batches',
    description:
      'Returns settlement batches, newest first. Sums are null while the service builds a batch.',
    parameters: pageParameters('Batches', 'list-settlements'),
    refusals: [invalidPage, invalidCursor],
    data: array(batch.batchSchema(SignedAmount)),
    page: cursorEntries(),
    example: {
      data: [batch.batchView(examples.exampleBatch)],
      page: { per_page: 20, ...lastPage },
    },
  },
  'get-settlement': {
    tag: 'Settlements',
    summary: 'Read a settlement batch',
    description:
      'Returns a batch, which is built on the day after its debits completed and paid a day later. ' +
      '`net` = `gross` - `fee` + `adjustments`. An adjustment offsets a debit that was reversed ' +
      'after its settlement.',
    parameters: { id: batchId },
    data: batch.batchSchema(SignedAmount),
    example: { data: batch.batchView(examples.exampleBatch) },
  },
  'get-settlement-report': {
    tag: 'Settlements',
    summary: 'Read the report of a settlement batch',
    description:
      'Returns the lines of the batch and their sums, as JSON or as a CSV file whose last row has ' +
      'the sums. For a report over 4 MB the reply is 303 with a URL that is valid for 15 minutes.',
    parameters: {
      id: batchId,
      format: { description: 'Format of the report (default json)', example: 'json' },
    },
    sample: { query: { format: 'csv' } },
    refusals: [
      new Refusal(5001, { details: 'the batch is being built' }),
      invalid({ format: ['must be one of json, csv'] }),
    ],
    data: batch.reportSchema(),
    files: { 'text/csv': await reportCsv },
    redirect: object({ url: pipe(string(), url()) }),
    example: {
      data: {
        batch: batch.batchView(examples.exampleBatch),
        lines: examples.lines.map(batch.lineView),
        totals: batch.totalsView(examples.lines.reduce(addLine, noTotals), formatAmount),
      },
    },
  },
  'get-monthly-statement': {
    tag: 'Settlements',
    summary: 'Read the statement of a month',
    description:
      'Returns the sums of all batches whose day is in the month, fees by schedule, payouts and the batches, ' +
      'as JSON, as CSV or as an HTML page to print. `partial` is true while more debits can follow; payouts can follow later.',
    parameters: {
      month: { description: 'Month of the batches', example: month, schema: Month },
      format: { description: 'Format of the statement (default json)', example: 'json' },
    },
    refusals: [invalid({ format: ['must be one of json, csv, html'] })],
    data: monthlyStatementSchema(),
    files: {
      'text/csv': statementCsv(statement),
      'text/html': statementPage(statement, 'Demo Payments', examples.secondsLater(172_800)),
    },
    example: { data: monthlyStatementView(statement) },
  },
} as const satisfies Partial<Descriptions>

import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { tableDefinition } from '../../infra/definitions/table.ts'
import { newBucket } from '../../sandbox/aws/bucket.ts'
import { noJournal } from '../../sandbox/aws/journal.ts'
import { newTable, type Table } from '../../sandbox/aws/table/table.ts'
import type { AwsReply } from '../../sandbox/bundles/aws-call.ts'
import { documentCommand, documentInput, wireOutput } from '../../sandbox/bundles/dynamodb-json.ts'
import { s3Call } from '../../sandbox/bundles/s3-rest.ts'
import { close, listen } from '../../sandbox/local-server.ts'
import { awsAt } from '../support/commands.ts'
import type { Books } from '../support/recorded-books.ts'

/** An endpoint of AWS with the table and the buckets of a stage, which restores tables as DynamoDB does. */

const SOURCE = 'debits'
const [AUDIT, REPORTS] = ['audit', 'reports']
const variables = {
  ...{ STAGE: 'sandbox', LIMITS: 'sandbox', REFERENCE_PREFIX: 'DCS', TABLE_NAME: SOURCE },
  ...{ AUDIT_BUCKET: AUDIT, REPORTS_BUCKET: REPORTS },
  QUEUE_URL_PAYMENTS: 'http://127.0.0.1:1/payments',
}

type Input = {
  TableName?: string
  TargetTableName?: string
  RequestItems?: object
  TransactItems?: readonly Record<string, { TableName: string }>[]
}

const tableOf = ({ TargetTableName, TableName, RequestItems = {}, TransactItems }: Input) => {
  const [written] = TransactItems?.flatMap((item) => Object.values(item)) ?? []
  return TargetTableName ?? TableName ?? written?.TableName ?? Object.keys(RequestItems)[0]
}

export const startDrillEndpoint = async ({ items, objects, at }: Books) => {
  /** Each call with its table or bucket; the tables, with the descriptions until they are active. */
  const calls: string[] = []
  const tables = new Map<string, { table: Table; creating: number }>()
  const state = { tables, calls, creating: 2, hasRecovery: true }
  const bucket = newBucket(noJournal)
  for (const [key, object] of objects) bucket.objects.set(key, object)

  const newError = (name: string) => Object.assign(new Error(name), { name })
  const found = (name = '') => {
    const one = tables.get(name)
    if (!one) throw newError('ResourceNotFoundException')
    return one
  }
  const control: Record<string, (input: Input) => object> = {
    DescribeContinuousBackups: () => ({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        ...(state.hasRecovery && {
          PointInTimeRecoveryDescription: {
            EarliestRestorableDateTime: at.getTime() / 1_000 - 86_400 * 35,
            LatestRestorableDateTime: at.getTime() / 1_000,
          },
        }),
      },
    }),
    DescribeTable: ({ TableName }) => {
      if (TableName === SOURCE)
        return { Table: { TableStatus: 'ACTIVE', SSEDescription: { KMSMasterKeyArn: 'arn:key' } } }
      const one = found(TableName)
      one.creating -= 1
      return { Table: { TableStatus: one.creating >= 0 ? 'CREATING' : 'ACTIVE' } }
    },
    ListTables: () => ({ TableNames: [SOURCE, ...tables.keys()] }),
    RestoreTableToPointInTime: ({ TargetTableName = '' }) => {
      const now = () => at.getTime()
      const table = newTable({ definition: tableDefinition, name: TargetTableName, now })
      for (const item of items) table.restore(item, item, 0)
      tables.set(TargetTableName, { table, creating: state.creating })
      return {}
    },
    DeleteTable: ({ TableName = '' }) => {
      if (found(TableName).creating > 0) throw newError('ResourceInUseException')
      tables.delete(TableName)
      return {}
    },
  }

  const json = (value: unknown, status = 200): AwsReply => ({
    ...{ status, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify(value),
  })

  const onTable = async (operation: string, input: Input): Promise<AwsReply> => {
    const name = tableOf(input)
    calls.push(`${operation} ${name}`)
    const answer = control[operation]
    if (answer) return json(answer(input))
    const output = found(name).table.run(documentCommand(operation), documentInput(input) as object)
    return json(wireOutput(output))
  }

  const reply = async (request: IncomingMessage): Promise<AwsReply> => {
    const { method = '', headers } = request
    const url = new URL(request.url ?? '/', `http://${headers.host}`)
    const body = await buffer(request)
    const [, operation] = /^DynamoDB_20120810\.(\w+)$/.exec(String(headers['x-amz-target'])) ?? []
    try {
      if (operation) return await onTable(operation, JSON.parse(body.toString()))
      if (url.pathname.endsWith('/configuration')) {
        calls.push('GetFunctionConfiguration')
        return json({ Environment: { Variables: variables } })
      }
      const call = s3Call({ method, url, headers, body })
      const { name } = call.command.constructor
      calls.push(`${name} ${call.command.input.Bucket}`)
      try {
        const read = bucket.calls[name as 'GetObjectCommand'] as (input: object) => object
        return await call.reply(read(call.command.input) as Record<string, unknown>)
      } catch (error) {
        return call.error(404, error as Error)
      }
    } catch (error) {
      const { name, message } = error as Error
      return json({ __type: name, message }, 400)
    }
  }

  const server = createServer((request, response) => {
    reply(request).then(
      ({ status, headers, body }) => response.writeHead(status, headers).end(body),
      () => response.destroy(),
    )
  })
  return { state, env: awsAt(await listen(server)), stop: () => close(server) }
}

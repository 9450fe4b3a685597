import { Stack, type StackProps } from 'aws-cdk-lib'
import type { Alias } from 'aws-cdk-lib/aws-lambda'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { QueueName } from '../../shared/queues/messages.ts'
import { queueSource, streamSource } from '../constructs/event-sources.ts'
import { defineFunction, defineLiveAlias } from '../constructs/function.ts'
import { defineSchedules } from '../constructs/schedules.ts'
import { defineLostRecords, defineQueues, queueNamed } from '../constructs/sqs-queues.ts'
import { jobRowsOf } from '../definitions/functions.ts'
import { type JobName, jobRow, queuesOf } from '../definitions/jobs.ts'
import type { Stage } from '../definitions/stages.ts'
import type { ApiStack } from './api-stack.ts'
import type { DataStack } from './data-stack.ts'
import type { NetworkStack } from './network-stack.ts'

type JobsProps = StackProps & {
  stage: Stage
  data: DataStack
  api: ApiStack
  network: NetworkStack | undefined
}

/** Defines the background work: queues, schedules, and the functions that consume them. */
export class JobsStack extends Stack {
  readonly queues: ReadonlyMap<QueueName, Queue>
  /** Names of log groups by function. */
  readonly logs = new Map<JobName, string>()

  constructor(scope: Construct, id: string, { stage, data, api, network, ...props }: JobsProps) {
    super(scope, id, props)
    const queues = defineQueues(this, queuesOf(stage), stage)
    this.queues = queues.work
    // All of them, so that only a removed queue removes an export, which operators must drop first
    // (docs/deployment.md#roll-back).
    for (const { queueArn, queueUrl } of queues.work.values()) {
      for (const value of [queueArn, queueUrl]) this.exportValue(value)
    }
    const schedules = defineSchedules(this, queues, stage)
    const resources = { stage, data, hosts: api.hosts, queues: queues.work, schedules, network }
    for (const row of jobRowsOf(stage)) {
      const name = row.name as JobName
      const lambda = defineFunction(this, row, resources)
      this.logs.set(name, lambda.logGroup.logGroupName)
      this.#addSources(name, defineLiveAlias(lambda), stage, data)
    }
    // Also without a dashboard: when the Region begins to wait, monitoring still imports it.
    this.exportValue(this.logs.get('relay'))
  }

  #addSources(name: JobName, alias: Alias, stage: Stage, data: DataStack): void {
    const { from } = jobRow(name)
    if ('stream' in from) {
      const lost = defineLostRecords(this, name, stage)
      alias.addEventSource(streamSource(from, { table: data.table, lost, stage }))
      return
    }
    for (const queue of from.queues) {
      alias.addEventSource(queueSource(name, queueNamed(this.queues, queue), stage))
    }
  }
}

import type { DynamoDBRecord } from 'aws-lambda'
import { type ChangeFilter, jobs } from '../../infra/definitions/jobs.ts'
import type { Change } from './table/change.ts'

/** The filters between the table's stream and the function that reads it. */

type Attributes = (name: string) => unknown

const passes = (values: ChangeFilter['next'], attribute: Attributes): boolean =>
  Object.entries(values ?? {}).every(([name, accepted]) => {
    const value = attribute(name)
    return typeof value === 'string' && (accepted === 'any' || accepted.includes(value))
  })

const isPassed = (next: Attributes, previous: Attributes): boolean =>
  jobs.relay.from.stream.some(
    (filter) =>
      passes({ entity: filter.entity, ...filter.next }, next) && passes(filter.previous, previous),
  )

export const isFollowed = ({ before, after }: Pick<Change, 'before' | 'after'>): boolean =>
  isPassed(
    (name) => after?.[name],
    (name) => before?.[name],
  )

export const isFollowedRecord = ({ dynamodb }: DynamoDBRecord): boolean =>
  isPassed(
    (name) => dynamodb?.NewImage?.[name]?.S,
    (name) => dynamodb?.OldImage?.[name]?.S,
  )

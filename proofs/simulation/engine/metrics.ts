import { currentInvocation } from './invocations.ts'
import type { Measurement } from './observations.ts'

/** The metrics that functions write to their log, in CloudWatch's embedded format. */

let measured: Measurement[] = []

export const collectMetrics = (list: Measurement[]): void => {
  measured = list
}

for (const stream of [process.stdout, process.stderr]) {
  const write = stream.write.bind(stream) as (...parts: unknown[]) => boolean
  stream.write = (text: unknown, ...others: unknown[]): boolean => {
    if (typeof text !== 'string' || !text.includes('"_aws":{')) return write(text, ...others)
    const line = JSON.parse(text)
    const by = currentInvocation()?.number
    for (const { Dimensions, Metrics } of line._aws.CloudWatchMetrics) {
      const dimensions = Object.fromEntries(Dimensions[0].map((one: string) => [one, line[one]]))
      for (const { Name: name } of Metrics)
        measured.push({ name, value: line[name], by, dimensions })
    }
    return true
  }
}

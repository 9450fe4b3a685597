import type { Template } from 'aws-cdk-lib/assertions'
import type { TemplateNode } from '../templates.ts'
import { parseExpression } from './expression.ts'
import { type Metric, type Samples, statisticOf } from './samples.ts'

/**
 * A model of CloudWatch's alarms. It evaluates those of a template on samples, by these rules of the
 * user guide:
 * - Each minute an alarm is evaluated on its last periods, which end at the newest minute with data. A
 *   minute has data after another one (an assumption).
 * - It rings if `DatapointsToAlarm` of `EvaluationPeriods` datapoints breach. CloudWatch reads more
 *   periods than it needs (here two) and uses the newest datapoints that exist. If they are too few,
 *   `TreatMissingData` fills the rest.
 * - A metric math alarm evaluates its expression for each datapoint. A Metrics Insights query has a state
 *   per series.
 * - A composite alarm has the state of its rule. A notification is sent when a state changes.
 */

const DATA_MINUTES = 1
const EXTRA_PERIODS = 2

/** A reference to another resource has this value, in templates and in samples. */
export const REFERENCE = 'REFERENCE'

export type Ring = {
  /** The name without the prefix of the stage. */
  name: string
  /** The series of a query, such as ` (GCB)`. */
  label: string
  minute: number
  /** The topics of its actions. */
  topics: string[]
}

type Series = {
  label: string
  /** Whether it has no sample, so that its state never changes. */
  isEmpty: boolean
  datapoint: (from: number, before: number) => number | undefined
}

const dimensionsOf = (list: TemplateNode[] = []): Record<string, string> =>
  Object.fromEntries(
    list.map(({ Name, Value }) => [Name, typeof Value === 'string' ? Value : REFERENCE]),
  )

const metricOf = (node: TemplateNode): Metric => ({
  namespace: node.Namespace,
  name: node.MetricName,
  dimensions: dimensionsOf(node.Dimensions),
})

const QUERY =
  /^SELECT (SUM|MAX)\((\w+)\) FROM SCHEMA\("(\w+)", (\w+), (\w+)\) WHERE (\w+) = '([^']+)' GROUP BY (\w+) ORDER BY \1\(\) DESC$/

/** Returns a series per value of the dimension that a query groups by. */
const queried = (text: string, samples: Samples): Series[] => {
  const [, operation, name = '', namespace = '', a, b, where = '', value, by = ''] =
    QUERY.exec(text) ?? []
  if (!operation) throw new Error(`Unknown query: ${text}`)
  const statistic = operation === 'SUM' ? 'Sum' : 'Maximum'
  return samples
    .named(namespace, name)
    .filter(({ dimensions }) => {
      const names = Object.keys(dimensions).sort()
      return String(names) === String([a, b].sort()) && dimensions[where] === value
    })
    .map((metric) => {
      const own = samples.of(metric)
      return {
        label: ` (${metric.dimensions[by]})`,
        isEmpty: false,
        datapoint: (from, before) => statisticOf(own, statistic, { from, before }),
      }
    })
}

const calculated = (nodes: TemplateNode[], samples: Samples): Series => {
  const stats = nodes.flatMap(({ Id, MetricStat }) =>
    MetricStat
      ? [{ id: String(Id), stat: MetricStat.Stat, own: samples.of(metricOf(MetricStat.Metric)) }]
      : [],
  )
  const expressions = nodes.filter(({ Expression }) => Expression)
  const evaluate = parseExpression(expressions[0]?.Expression)
  if (expressions.length > 1) throw new Error('Several expressions are not implemented')
  return {
    label: '',
    isEmpty: stats.every(({ own }) => own.length === 0),
    datapoint: (from, before) => {
      const value = ({ stat, own }: (typeof stats)[number]) =>
        statisticOf(own, stat, { from, before })
      return evaluate({
        one: (id) => {
          const metric = stats.find((one) => one.id === id)
          if (!metric) throw new Error(`Unknown metric ${id}`)
          return value(metric)
        },
        all: (prefix) => stats.filter(({ id }) => id.startsWith(prefix)).map(value),
      })
    },
  }
}

const seriesOf = (alarm: TemplateNode, samples: Samples): { period: number; series: Series[] } => {
  const nodes: TemplateNode[] | undefined = alarm.Metrics
  if (!nodes) {
    const own = samples.of(metricOf(alarm))
    const statistic = alarm.Statistic ?? alarm.ExtendedStatistic
    const datapoint: Series['datapoint'] = (from, before) =>
      statisticOf(own, statistic, { from, before })
    return { period: alarm.Period, series: [{ label: '', isEmpty: own.length === 0, datapoint }] }
  }
  const [first] = nodes
  if (String(first?.Expression).startsWith('SELECT'))
    return { period: first?.Period, series: queried(first?.Expression, samples) }
  const periods = new Set(nodes.flatMap(({ MetricStat }) => MetricStat?.Period ?? []))
  if (periods.size > 1) throw new Error(`The metrics of ${alarm.AlarmName} differ in their period`)
  return { period: [...periods][0], series: [calculated(nodes, samples)] }
}

const breaches: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
}

const isRinging = (alarm: TemplateNode, period: number, series: Series, minute: number) => {
  const { EvaluationPeriods: count, ComparisonOperator, Threshold, TreatMissingData } = alarm
  const isBreach = breaches[ComparisonOperator]
  if (!isBreach) throw new Error(`${ComparisonOperator} is not implemented`)
  const found: boolean[] = []
  for (let n = 0; n < count + EXTRA_PERIODS && found.length < count; n += 1) {
    const before = minute - DATA_MINUTES - n * period
    const value = series.datapoint(before - period, before)
    if (value !== undefined) found.push(isBreach(value, Threshold))
  }
  const missing = TreatMissingData === 'breaching' ? count - found.length : 0
  return found.filter(Boolean).length + missing >= (alarm.DatapointsToAlarm ?? count)
}

const minutesFrom = (from: number, before: number) =>
  Array.from({ length: before - from }, (_, n) => from + n)

const constantly = (state: boolean) => () => state

/** Returns the minutes at which an alarm starts to ring, by the label of its series. */
const startsOf = (alarm: TemplateNode, samples: Samples, span: Span) => {
  const { period, series } = seriesOf(alarm, samples)
  const ringsAt = (one: Series) => (minute: number) => isRinging(alarm, period / 60, one, minute)
  const minutes = minutesFrom(span.from, span.before)
  return series.map((one): State => {
    const { label, isEmpty } = one
    if (isEmpty) return { label, states: minutes.map(constantly(ringsAt(one)(span.from))) }
    return { label, states: minutes.map(ringsAt(one)) }
  })
}

type Span = { from: number; before: number }
type State = { label: string; states: boolean[] }

/** Returns the names of the alarms that a rule of a composite combines. */
const rule = (properties: TemplateNode, names: ReadonlyMap<string, string>) => {
  const parts: unknown[] = [properties.AlarmRule?.['Fn::Join']?.[1] ?? properties.AlarmRule].flat()
  const text = parts
    .map((part) => {
      if (typeof part === 'string') return part
      const [id] = (part as TemplateNode)['Fn::GetAtt'] ?? []
      return id ? (names.get(id) ?? REFERENCE) : ''
    })
    .join('')
  const terms = text.replaceAll(/[()]|ALARM/g, '').split(' OR ')
  return terms.map((term) =>
    term.split(' AND ').map((one) => one.replaceAll('"', '').split(':').at(-1) ?? ''),
  )
}

const topicsOf = ({ AlarmActions }: TemplateNode): string[] =>
  (AlarmActions ?? []).map(({ Ref }: { Ref: string }) => Ref)

/** Returns each notification that the alarms of a template send in a span, in order. */
export const ringsOf = (
  template: Template,
  samples: Samples,
  span: Span,
  prefix: string,
): Ring[] => {
  const names = new Map<string, string>()
  const states = new Map<string, State[]>()
  const rings: Ring[] = []
  const note = ({ topics, name }: Pick<Ring, 'name' | 'topics'>, own: State[]) => {
    for (const { label, states } of own) {
      for (const [index, state] of states.entries()) {
        if (state && !states[index - 1] && topics.length > 0)
          rings.push({ name, label, minute: span.from + index, topics })
      }
    }
  }
  const alarms = template.findResources('AWS::CloudWatch::Alarm')
  for (const [id, { Properties }] of Object.entries(alarms)) {
    names.set(id, Properties.AlarmName)
    const own = startsOf(Properties, samples, span)
    states.set(Properties.AlarmName, own)
    note({ name: Properties.AlarmName.slice(prefix.length), topics: topicsOf(Properties) }, own)
  }
  const composites = template.findResources('AWS::CloudWatch::CompositeAlarm')
  for (const { Properties } of Object.values(composites)) {
    const terms = rule(Properties, names)
    const stateAt = (index: number) => (name: string) => {
      const own = states.get(name)
      if (!own) throw new Error(`Unknown alarm ${name} in ${Properties.AlarmName}`)
      return own.some((one) => one.states[index])
    }
    const combined = minutesFrom(0, span.before - span.from).map((index) =>
      terms.some((all) => all.every(stateAt(index))),
    )
    const name = Properties.AlarmName.slice(prefix.length)
    note({ name, topics: topicsOf(Properties) }, [{ label: '', states: combined }])
  }
  return rings.sort((a, b) => a.minute - b.minute || a.name.localeCompare(b.name))
}

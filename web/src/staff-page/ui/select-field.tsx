import { Field, type FieldProps } from './field.tsx'

interface Props<Value extends string | number> extends Omit<FieldProps, 'children'> {
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** A choice among a few values. */
export function SelectField<Value extends string | number>(props: Props<Value>) {
  const { options, value, onChange, ...field } = props
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          className="select"
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = options[currentTarget.selectedIndex]
            if (chosen !== undefined) onChange(chosen.value)
          }}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

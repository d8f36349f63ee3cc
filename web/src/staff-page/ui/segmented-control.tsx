interface Props<Value extends string> {
  readonly label: string
  readonly options: readonly { readonly value: Value; readonly label: string }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  readonly className?: string
}

/** A few choices side by side, of which exactly one is active. */
export function SegmentedControl<Value extends string>(props: Props<Value>) {
  const { label, options, value, onChange, className } = props
  return (
    <fieldset className={className === undefined ? 'segmented' : `segmented ${className}`}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className="segmented__option"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}

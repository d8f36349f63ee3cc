/** The head of a table with one pet per row and figures in columns. */
export function PetTableHead({ figures }: { readonly figures: readonly string[] }) {
  return (
    <thead>
      <tr>
        <th scope="col">Pet</th>
        {figures.map((figure) => (
          <th key={figure} scope="col" className="table__number">
            {figure}
          </th>
        ))}
      </tr>
    </thead>
  )
}

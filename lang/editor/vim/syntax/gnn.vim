" Highlighting of .gnn files.
if exists("b:current_syntax")
  finish
endif

syntax keyword gnnItem import op fn reducer grad schedule choose
syntax keyword gnnKeyword wrt as like for when where let by over in else ties
syntax keyword gnnType f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64 bool
syntax keyword gnnConstant inf none pi
syntax keyword gnnFact sorted unique partial prefix strided packed aligned inplace commutative
syntax match gnnReduction "\<\h\w*\ze{"
syntax match gnnCall "\<\h\w*\ze("
syntax match gnnNumber "\<\d\+\(\.\d\+\)\?\([eE][+-]\?\d\+\)\?\>"
syntax match gnnPrime "\<\h\w*'"
syntax match gnnOperator "->\|==\|!=\|<=\|>=\|&&\|||\|[-+*/%<>!?=|]"
syntax region gnnString start=+"+ end=+"+ oneline
syntax match gnnComment "//.*$" contains=@Spell

highlight default link gnnItem Statement
highlight default link gnnKeyword Keyword
highlight default link gnnType Type
highlight default link gnnConstant Constant
highlight default link gnnFact StorageClass
highlight default link gnnReduction Special
highlight default link gnnCall Function
highlight default link gnnNumber Number
highlight default link gnnPrime Identifier
highlight default link gnnOperator Operator
highlight default link gnnString String
highlight default link gnnComment Comment

setlocal commentstring=//\ %s
let b:current_syntax = "gnn"

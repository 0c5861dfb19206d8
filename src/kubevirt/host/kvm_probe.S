# The guest of the KVM probe: from reset to 64 bits with paging, memory, and a timer interrupt out of
# a halt, which is what an operating system needs; then it says so at port 0xf4 and QEMU ends.
#
#   as --64 -o probe.o kvm_probe.S && objcopy -O binary -j .text probe.o probe.bin
#
# It is the end of a ROM of 64 KiB at 0xffff0000. The result lies in kvm.py; a test compares.

        .set    ROM, 0xffff0000
        .set    PML4, 0x1000
        .set    PDPT, 0x2000
        .set    LOW, 0x3000             # the first two megabytes, as they are
        .set    HIGH, 0x4000            # below 4G: the interrupt controller and this ROM
        .set    APIC, 0xfee00000
        .set    IDT, 0x5000
        .set    STACK, 0x8000
        .set    DATA, 0x10000
        .set    TIMER, 0x20             # the vector of IRQ 0

        .text
        .code16
begin:  cli
        lgdtl   %cs:gdt_pointer - begin
        mov     $0x11, %eax             # protected mode
        mov     %eax, %cr0
        ljmpl   $0x08, $ROM + protected - begin

        .code32
protected:
        mov     $0x10, %eax
        mov     %eax, %ds
        mov     %eax, %es
        mov     %eax, %ss
        mov     $STACK, %esp
        cld                             # empty tables
        xor     %eax, %eax
        mov     $PML4, %edi
        mov     $0x1400, %ecx
        rep stosl
        movl    $PDPT + 3, PML4
        movl    $LOW + 3, PDPT
        movl    $HIGH + 3, PDPT + 3 * 8
        movl    $0x83, LOW
        movl    $APIC + 0x93, HIGH + 503 * 8
        movl    $0xffe00083, HIGH + 511 * 8
        mov     $0x20, %eax             # PAE
        mov     %eax, %cr4
        mov     $PML4, %eax
        mov     %eax, %cr3
        mov     $0xc0000080, %ecx       # long mode
        rdmsr
        or      $0x100, %eax
        wrmsr
        mov     $0x80000011, %eax       # paging
        mov     %eax, %cr0
        ljmpl   $0x18, $ROM + wide - begin

        .code64
wide:   mov     $DATA, %edi             # memory that keeps what is written
        mov     $0x10000, %ecx
write:  mov     %rcx, (%rdi,%rcx,8)
        loop    write
        mov     $0x10000, %ecx
read:   cmp     %rcx, (%rdi,%rcx,8)
        jne     failed
        loop    read
        mov     $ROM + ticked - begin, %eax
        mov     %ax, IDT + TIMER * 16
        movw    $0x18, IDT + TIMER * 16 + 2
        movw    $0x8e00, IDT + TIMER * 16 + 4
        shr     $16, %eax
        mov     %ax, IDT + TIMER * 16 + 6
        lidt    idt_pointer(%rip)
        mov     $APIC, %edi             # the local one lets the old ones through
        movl    $0x1ff, 0xf0(%rdi)
        movl    $0x700, 0x350(%rdi)
        mov     $0x11, %al              # the interrupt controllers, all masked but the timer
        out     %al, $0x20
        out     %al, $0xa0
        mov     $TIMER, %al
        out     %al, $0x21
        mov     $TIMER + 8, %al
        out     %al, $0xa1
        mov     $4, %al
        out     %al, $0x21
        mov     $2, %al
        out     %al, $0xa1
        mov     $1, %al
        out     %al, $0x21
        out     %al, $0xa1
        mov     $0xff, %al
        out     %al, $0xa1
        mov     $0xfe, %al
        out     %al, $0x21
        mov     $0x34, %al              # the timer, a thousand times a second
        out     %al, $0x43
        mov     $0xa9, %al
        out     %al, $0x40
        mov     $0x04, %al
        out     %al, $0x40
        mov     $5, %ebx
wait:   sti
        hlt
        cli
        dec     %ebx
        jnz     wait
        mov     $0x10, %al
        out     %al, $0xf4
failed: hlt
        jmp     failed

ticked: mov     $0x20, %al
        out     %al, $0x20
        iretq

        .balign 8
gdt:    .quad   0
        .quad   0x00cf9a000000ffff      # 32 bits, code
        .quad   0x00cf92000000ffff      # data
        .quad   0x00af9a000000ffff      # 64 bits, code
gdt_pointer:
        .word   gdt_pointer - gdt - 1
        .long   ROM + gdt - begin
idt_pointer:
        .word   0xfff
        .quad   IDT
end:
